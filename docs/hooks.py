"""Hooks for mkdocs: formulas as MathML, reference pages from the program's tables, pages from other files of the repository
(README.md, CONTRIBUTING.md, CHANGELOG.md, models/README.md), the version, and edit links."""

import html
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
PROGRAM = os.environ.get("SACCADE_PROGRAM", str(ROOT / "build/release/saccade"))
SOURCES = {  # page: its file in the repository
    "index.md": "README.md",
    "adding.md": "CONTRIBUTING.md",
    "changes.md": "CHANGELOG.md",
    "models.md": "models/README.md",
}
PLAY = "play.html"  # the page on which to look for oneself: `saccade export --web`
PLAYED = ("quickstart", "cluttered60", "soft60", "transcribe")
METRICS_OF = re.compile(r"<!-- metrics in (\S+) -->")
COMMENT_OF = re.compile(r"<!-- comment of (\S+) -->")
CODE = re.compile(r"(^(?: {4}|\t)[^\n]*$|```.*?```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?(?:\n[^$\n]+?)?)\$", re.DOTALL)


def run_program(*words: str) -> str:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout


def cell(text: str) -> str:
    return html.escape(text).replace("|", "\\|")


def commands() -> str:
    names = re.findall(r"^  ([a-z]+) +[A-Z]", run_program("--help"), re.MULTILINE)
    pages = [f"## {name}\n\n```text\n{run_program(name, '--help')}```\n" for name in names]
    return "# Commands\n\nThe output of `saccade COMMAND --help`.\n\n" + "\n".join(pages)


def settings() -> str:
    lines = ["# Settings", "", "The table of `saccade settings`.", ""]
    section = None
    for setting in json.loads(run_program("settings", "--json")):
        key = setting["key"]
        above = key.rpartition(".")[0] or "Experiment"
        if above != section:
            section = above
            lines += ["", f"## {section}", "", "| key | default | allowed | meaning | has an effect with |"]
            lines += ["|---|---|---|---|---|"]
        needs = "; ".join(setting["needs"])
        lines.append(
            f"| `{key}` | `{setting['default']}` | {cell(setting['allowed'])} "
            f"| {cell(setting['about'])} | {cell(needs)} |"
        )
    return "\n".join(lines) + "\n"


def metrics() -> str:
    lines = ["# Metrics", "", "The table of `saccade metrics`. Shares are in [0, 1]; the screen shows per cent.", ""]
    lines += ["| name | unit | meaning | written to |", "|---|---|---|---|"]
    for metric in json.loads(run_program("metrics", "--json")):
        written = ", ".join(metric["written"])
        lines.append(
            f"| `{metric['name']}` | {cell(metric['unit'])} | {cell(metric['about'])} | {written} |"
        )
    return "\n".join(lines) + "\n"


def metrics_of(file: str) -> str:
    """The table of the metrics that are written to a file."""
    found = [m for m in json.loads(run_program("metrics", "--json")) if file in m["written"]]
    if not found:
        raise ValueError(f"no metric is written to {file}")
    lines = ["| name | unit | meaning |", "|---|---|---|"]
    lines += [f"| `{m['name']}` | {cell(m['unit'])} | {cell(m['about'])} |" for m in found]
    return "\n".join(lines)


def comment_of(header: str) -> str:
    """The first documentation comment in a header."""
    comment = re.search(r"^((?:///.*\n)+)", (ROOT / header).read_text(), re.MULTILINE)
    lines = [line[4:] for line in comment[1].splitlines()]
    return "\n".join(["```text", *lines, "```"])


def linked(text: str) -> str:
    """Turns links from the root of the repository into links between pages."""
    text = text.replace("](docs/pages/", "](")
    for page, source in SOURCES.items():
        text = text.replace(f"]({source})", f"]({page})")
    return re.sub(r"\[([^\]]*)\]\((LICENSE|CITATION\.cff)\)", r"\1", text)  # files that are not on the site


def adding() -> str:
    """The recipes of CONTRIBUTING.md."""
    recipes = re.search(r"^## Recipes\n\n(.*?)^## Style", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL)
    return f"# Extending Saccade\n\n{recipes[1]}"


def play_page() -> bytes | None:
    """The page with a few agents, which links to the pages beside it; nothing if the web module was not built."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / PLAY
        made = subprocess.run([PROGRAM, "export", *PLAYED, "--web", page, "--single"], capture_output=True, text=True)
        if "the module of the page is missing" in made.stderr:
            print("skipped: the page on which to look for oneself: it needs the web module (make web)", file=sys.stderr)
            return None
        made.check_returncode()
        base = '<meta name="documentation" content="'
        return page.read_text().replace(base, base + "./", 1).encode()


def repository() -> str | None:
    """The repository's address on the web: from CITATION.cff, or else the origin of this clone."""
    cited = re.search(r'^repository-code: "?([^"\s]+)', (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    origin = subprocess.run(["git", "-C", ROOT, "config", "remote.origin.url"], capture_output=True, text=True).stdout
    url = cited[1] if cited else re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", origin.strip())
    found = re.fullmatch(r"https://(?:[^@/]*@)?(.+?)(?:\.git)?/?", url)
    return found and f"https://{found[1]}"


def on_config(config):
    config.site_name += " " + (ROOT / "VERSION").read_text().strip()
    config.theme.static_templates.discard("404.html")  # only a server uses it
    if url := repository():
        config.edit_uri = f"{url}/edit/main/docs/pages/"
        config.extra["social"] = [{"icon": "fontawesome/brands/git-alt", "link": url, "name": "Repository"}]


def on_files(files, config):
    pages = {f"reference/{write.__name__}.md": write() for write in (commands, settings, metrics)}
    for name, source in SOURCES.items():
        pages[name] = adding() if name == "adding.md" else linked((ROOT / source).read_text())
    play = play_page()
    if play:
        invitation = f"[**Look for yourself**]({PLAY}): play against trained agents in your browser, and watch them.\n\n"
        pages["index.md"] = re.sub(r"^(?=!\[)", invitation, pages["index.md"], count=1, flags=re.MULTILINE)
        files.append(File.generated(config, PLAY, content=play))
    for name, content in pages.items():
        file = File.generated(config, name, content=content)
        if name in SOURCES:
            file.edit_uri = f"../../{SOURCES[name]}"
        files.append(file)
    return files


def on_page_markdown(markdown, page, **_):
    if page.file.src_uri.startswith("reference/"):
        return markdown  # has no formulas
    markdown = METRICS_OF.sub(lambda match: metrics_of(match[1]), markdown)
    markdown = COMMENT_OF.sub(lambda match: comment_of(match[1]), markdown)
    markdown = markdown.replace("](../../CONTRIBUTING.md#", "](adding.md#")

    def formula(match: re.Match) -> str:
        block, inline = match.groups()
        if block:
            return convert(" ".join(block.split()), display="block")
        # After a zero-width space: markdown does not make a paragraph of a line that begins with a tag.
        return "&#8203;" + convert(" ".join(inline.split()))

    parts = CODE.split(markdown)  # code is at the odd indices
    parts[::2] = [FORMULA.sub(formula, text) for text in parts[::2]]
    for text in parts[::2]:
        if "$" in text:
            raise ValueError(f"{page.file.src_uri}: unterminated formula: {text!r}")
    return "".join(parts)
