"""Run folders and study folders."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _saccade
from ._extras import extra
from ._html import table
from ._saccade import InputError
from .agents import Agent, load
from .comparisons import Comparison, compared

if TYPE_CHECKING:
    import pandas

PathLike = str | os.PathLike[str]


class Metrics(dict[str, list[float]]):
    """The columns of metrics.csv that have any value, by name; missing values are NaN. `episodes`
    are integers, shares are in [0, 1]."""

    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row per logging step."""
        return extra("pandas", "pandas").DataFrame(dict(self))


def _per_cent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"


class Folder:
    """A folder on disk; path-like."""

    path: Path

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)


class Run(Folder):
    """A run folder, or the folder of the trained agent with this name. Its files are read on
    access."""

    def __init__(self, path: PathLike) -> None:
        self.path = _saccade.find_run_folder(Path(path))
        if not (self.path / "config.yaml").is_file():
            raise InputError(f"{self.path}: not a run folder: no config.yaml")

    @property
    def config(self) -> dict[str, Any]:
        """Every setting, nested as in config.yaml, for `train`."""
        nested: dict[str, Any] = {}
        for key, value in _saccade.config_items(self.path / "config.yaml"):
            *sections, word = key.split(".")
            section = nested
            for name in sections:
                section = section.setdefault(name, {})
            section[word] = value
        return nested

    @property
    def metrics(self) -> Metrics:
        """The rows logged so far."""
        return Metrics(_saccade.metrics_columns(self.path / "metrics.csv"))

    @property
    def finished(self) -> bool:
        """Whether the run is finished, including its test."""
        return _saccade.is_finished(self.path)

    @property
    def summary(self) -> dict[str, Any]:
        """The final figures by metric name; empty until the run is finished."""
        return self._read("summary.json")

    @property
    def test(self) -> dict[str, Any]:
        """The data of the test's charts: error by glimpse, confusion, locations; empty until the
        test."""
        return self._read("test.json")

    @property
    def snapshots(self) -> dict[int, Path]:
        """With log.snapshots: the agents of its evaluations, for `load`, by the episodes trained."""
        files = (self.path / "snapshots").glob("episodes-*.safetensors")
        numbered = ((file.stem.removeprefix("episodes-"), file) for file in files)
        return dict(sorted((int(number), file) for number, file in numbered if number.isdecimal()))

    def _repr_html_(self) -> str:
        low, high = (self.summary.get(f"test/error{end}") for end in ("_low", "_high"))
        error = _per_cent(self.summary.get("test/error"))
        if low is not None and high is not None:
            error += f" [{100 * low:.2f}, {100 * high:.2f}]"
        rows = [("run", self.path), ("finished", "yes" if self.finished else "no")]
        rows += [("test error %", error)] if self.finished else []
        episodes = self.metrics.get("episodes", [])
        return table((), [*rows, ("episodes", f"{episodes[-1] if episodes else 0:,}")])

    def agent(self, *, threads: int = 0) -> Agent:
        """The trained agent, from `load`."""
        return load(self.path, threads=threads)

    def _read(self, name: str) -> dict[str, Any]:
        file = self.path / name
        document: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
        return document

    def __repr__(self) -> str:
        how = f"test/error {self.summary['test/error']:.4f}" if self.finished else "not finished"
        return f"Run('{self.path}', {how})"


class Study(Folder):
    """A study folder: its runs and their comparison."""

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)
        if not (self.path / "study.txt").is_file():
            raise InputError(f"{self.path}: not a study folder: no study.txt")

    @property
    def runs(self) -> list[Run]:
        """The runs that have started, in the order of the study."""
        folders = _saccade.find_runs(self.path)
        return [Run(folder) for folder in folders if (folder / "config.yaml").is_file()]

    @property
    def finished(self) -> bool:
        """Whether every run is finished."""
        folders = _saccade.find_runs(self.path)
        return all(_saccade.is_finished(folder) for folder in folders)

    def comparison(self, tuned_by: str | Sequence[str] | None = None) -> Comparison:
        """Compares the finished runs. `report` is the page that the study wrote at its end.

        tuned_by: as for saccade.compare.
        """
        return compared([self.path], tuned_by, self.path / "comparison" / "report.html")

    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row per run: its folder, the settings in which the runs differ, and the
        figures of its summary."""
        runs = self.runs
        settings = [dict(_saccade.config_items(run.path / "config.yaml")) for run in runs]
        differing = [
            key
            for key in (settings[0] if settings else {})
            if any(one[key] != settings[0][key] for one in settings)
        ]
        return extra("pandas", "pandas").DataFrame(
            [
                {"folder": str(run.path), "finished": run.finished}
                | {key: one[key] for key in differing}
                | {k: v for k, v in run.summary.items() if isinstance(v, int | float)}
                for run, one in zip(runs, settings, strict=True)
            ]
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                os.path.relpath(run.path, self.path),
                "yes" if run.finished else "no",
                _per_cent(run.summary.get("test/error")),
            )
            for run in self.runs
        ]
        return table(("run", "finished", "test error %"), rows)

    def __repr__(self) -> str:
        how = "" if self.finished else ", not finished"
        return f"Study('{self.path}', {len(self.runs)} runs{how})"
