"""Shared code of the training tests: a small run and its files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

SOURCES = Path(__file__).parents[2]

# Four rows, two of them with an evaluation. Takes a fraction of a second.
SMALL = {
    "training.episodes": 2048,
    "training.batch_size": 128,
    "training.lane_size": 32,
    "evaluation.every": 1024,
    "evaluation.scenes": 50,
    "evaluation.rollouts": 2,
    "log.every": 512,
    "model.hidden_size": 16,
    "model.glimpse_hidden": 16,
    "model.feature_size": 16,
}
TIMES = ("time/elapsed", "time/episodes_per_second")


def results(folder: Path) -> dict[str, object]:
    """Everything that is bit-identical in two identical runs, without times."""
    folder = Path(folder)
    with open(folder / "metrics.csv") as file:
        rows = [{k: v for k, v in row.items() if k not in TIMES} for row in csv.DictReader(file)]
    summary = json.loads((folder / "summary.json").read_text())
    return {
        "last": (folder / "checkpoints/last.safetensors").read_bytes(),
        "best": (folder / "checkpoints/best.safetensors").read_bytes(),
        "config": (folder / "config.yaml").read_text(),
        "rows": rows,
        "summary": {key: value for key, value in summary.items() if key not in TIMES},
        "test": (folder / "test.json").read_text(),
    }


def assert_same_results(one: Path, other: Path) -> None:
    ones, others = results(one), results(other)
    assert [key for key in ones if ones[key] != others[key]] == []


def as_words(overrides: dict[str, object]) -> list[str]:
    return [f"{key}={value}" for key, value in overrides.items()]
