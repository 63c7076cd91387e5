"""The documentation's tables of results, and the figures in the presets' comments, are those that scripts/make-results wrote."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def check(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts/make-results"), *words]
    return subprocess.run(command, capture_output=True, text=True)


def test_pages_and_presets_say_what_the_figures_say() -> None:
    done = check("--check")
    assert done.returncode == 0, done.stderr


def test_an_unknown_table_is_refused_by_name() -> None:
    done = check("no_such_table")
    assert done.returncode != 0
    assert "no_such_table" in done.stderr and "circle_square" in done.stderr
