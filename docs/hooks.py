"""What mkdocs does besides: formulas as MathML, reference pages from the program's own tables, and pages from what the
repository says elsewhere: its front page from README.md, how things are added from CONTRIBUTING.md."""

import html
import json
import os
import re
import subprocess
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
PROGRAM = os.environ.get("SACCADE_PROGRAM", str(ROOT / "build/release/saccade"))
METRICS_OF = re.compile(r"<!-- metrics in (\S+) -->")
COMMENT_OF = re.compile(r"<!-- comment of (\S+) -->")
CODE = re.compile(r"(^(?: {4}|\t)[^\n]*$|```.*?```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?(?:\n[^$\n]+?)?)\$", re.DOTALL)


def ask(*words: str) -> str:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout


def cell(text: str) -> str:
    return html.escape(text).replace("|", "\\|")


def verbs() -> str:
    names = re.findall(r"^  ([a-z]+) +[A-Z]", ask("--help"), re.MULTILINE)
    pages = [f"## {name}\n\n```text\n{ask(name, '--help')}```\n" for name in names]
    return "# Verbs\n\nAs `saccade VERB --help` says.\n\n" + "\n".join(pages)


def settings() -> str:
    lines = ["# Settings", "", "As `saccade settings` lists them.", ""]
    section = None
    for setting in json.loads(ask("settings", "--json")):
        key = setting["key"]
        above = key.rpartition(".")[0] or "Of the experiment"
        if above != section:
            section = above
            lines += ["", f"## {section}", "", "| key | default | allowed | meaning | read with |"]
            lines += ["|---|---|---|---|---|"]
        needs = "; ".join(setting["needs"])
        lines.append(
            f"| `{key}` | `{setting['default']}` | {cell(setting['allowed'])} "
            f"| {cell(setting['about'])} | {cell(needs)} |"
        )
    return "\n".join(lines) + "\n"


def metrics() -> str:
    lines = ["# Metrics", "", "As `saccade metrics` lists them. Shares are in [0, 1]; the screen shows per cent.", ""]
    lines += ["| name | unit | meaning | written to |", "|---|---|---|---|"]
    for metric in json.loads(ask("metrics", "--json")):
        written = ", ".join(metric["written"])
        lines.append(
            f"| `{metric['name']}` | {cell(metric['unit'])} | {cell(metric['about'])} | {written} |"
        )
    return "\n".join(lines) + "\n"


def metrics_of(file: str) -> str:
    """The table of those that are written to a file."""
    found = [m for m in json.loads(ask("metrics", "--json")) if file in m["written"]]
    if not found:
        raise ValueError(f"no metric is written to {file}")
    lines = ["| name | unit | meaning |", "|---|---|---|"]
    lines += [f"| `{m['name']}` | {cell(m['unit'])} | {cell(m['about'])} |" for m in found]
    return "\n".join(lines)


def comment_of(header: str) -> str:
    """The first contract that stands in a header."""
    comment = re.search(r"^((?:///.*\n)+)", (ROOT / header).read_text(), re.MULTILINE)
    lines = [line[4:] for line in comment[1].splitlines()]
    return "\n".join(["```text", *lines, "```"])


def front() -> str:
    """README.md, whose links lead from the root of the repository."""
    text = (ROOT / "README.md").read_text()
    text = text.replace("](docs/pages/", "](").replace("](CONTRIBUTING.md)", "](adding.md)")
    return re.sub(r"\[([^\]]*)\]\((LICENSE|CITATION\.cff)\)", r"\1", text)  # files that the site has not


def adding() -> str:
    """The recipes of CONTRIBUTING.md."""
    recipes = re.search(r"^(Recipes follow: .*?)^## Style", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL)
    return f"# Add things\n\n{recipes[1]}"


def on_files(files, config):
    reference = {f"reference/{write.__name__}.md": write for write in (verbs, settings, metrics)}
    for name, write in (reference | {"index.md": front, "adding.md": adding}).items():
        files.append(File.generated(config, name, content=write()))
    return files


def on_page_markdown(markdown, page, **_):
    if page.file.src_uri.startswith("reference/"):
        return markdown  # without formulas
    markdown = METRICS_OF.sub(lambda match: metrics_of(match[1]), markdown)
    markdown = COMMENT_OF.sub(lambda match: comment_of(match[1]), markdown)

    def formula(match: re.Match) -> str:
        block, inline = match.groups()
        if block:
            return convert(" ".join(block.split()), display="block")
        # Behind a space of no width: a paragraph that begins with a tag would be none.
        return "&#8203;" + convert(" ".join(inline.split()))

    parts = CODE.split(markdown)  # what is code has odd places
    parts[::2] = [FORMULA.sub(formula, text) for text in parts[::2]]
    for text in parts[::2]:
        if "$" in text:
            raise ValueError(f"{page.file.src_uri}: a formula without its end: {text!r}")
    return "".join(parts)
