"""The documentation's tables of results, and the figures in the presets' comments, are those that scripts/make-results wrote."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_seeds_that_were_trained_apart_give_the_row_of_a_study() -> None:
    rows = json.loads((ROOT / "docs/results/accuracy.json").read_text())
    study = next(row for row in rows if row["command"].endswith(" seeds=5"))
    preset = study["command"].removesuffix(" seeds=5")
    apart = [
        {**study, "command": f"{preset} seeds=3", "errors": study["errors"][:3], "random": 0.1},
        {**study, "command": f"{preset} seed=4", "errors": study["errors"][3:4], "random": 0.6},
        {**study, "command": f"{preset} seed=5", "errors": study["errors"][4:], "random": 0.6},
    ]
    for row in apart:
        row["error"] = sum(row["errors"]) / len(row["errors"])
    make_results = runpy.run_path(str(ROOT / "scripts/make-results"))
    other = {**study, "command": f"{preset} seeds=5 model.context=none"}
    found, left = make_results["over_seeds"]([*apart, other])
    assert left == other
    assert found["command"] == study["command"]
    assert found["errors"] == study["errors"]
    assert found["error"] == pytest.approx(study["error"])
    assert found["error_interval"] == pytest.approx(study["error_interval"], abs=2e-6)
    assert found["random"] == pytest.approx(0.3)
