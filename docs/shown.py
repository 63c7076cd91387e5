"""Extracts code and pictures from the documentation, for docs/make-pictures and scripts/try-docs."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs/pages"
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
PICTURE = re.compile(r"^!\[[^\]]*\]\(pictures/([\w.-]+)\)\n\n```sh\n((?:.*\n)*?)```$", re.MULTILINE)


def documents() -> list[Path]:
    return [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "models/README.md")] + pages()


def pages() -> list[Path]:
    """The pages, in the order of the site."""
    order = re.findall(r"^ +- .*: ([\w-]+\.md)$", (ROOT / "docs/mkdocs.yml").read_text(), re.MULTILINE)
    return sorted(PAGES.glob("*.md"), key=lambda page: (page.name not in order, order.index(page.name) if page.name in order else page.name))


def blocks(text: str) -> list[tuple[str, str]]:
    """The blocks of code: language and text."""
    return FENCE.findall(text)


def commands(shell: str) -> list[str]:
    """The commands of a block, each with its continuation lines: after a backslash, or up to the end of a loop."""
    found, open_ = [], ""
    for line in shell.splitlines():
        open_ += line
        if open_.endswith("\\") or (open_.startswith("for ") and line != "done"):
            open_ += "\n"
        elif open_.strip():
            found.append(open_)
            open_ = ""
        else:
            open_ = ""
    return found + ([open_] if open_ else [])


def pictures(text: str) -> list[tuple[str, str]]:
    """The pictures that are followed by the commands that draw them: file name and commands."""
    return PICTURE.findall(text)
