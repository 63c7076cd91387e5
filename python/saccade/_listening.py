"""Progress of runs and downloads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from . import _saccade
from ._extras import extra
from ._training import Row
from .sinks import Logs, Sink, checked

log = logging.getLogger("saccade")


class Listener:
    """Forwards the progress of training runs: rows to sinks and a callback, notes to the log, and
    optionally a progress bar for each run. The C++ side calls it, on the thread that waits for the
    runs, with the folder of the run."""

    def __init__(
        self,
        callback: Callable[[Row, Path, _saccade.TrainingAccess], object] | None,
        progress: bool,
        sinks: Sequence[Sink] = (),
    ) -> None:
        self._callback = callback
        self._sinks = checked(sinks)
        self._logs: dict[Path, Logs] = {}  # of the trainings that go on
        self._make_bar = extra("tqdm.auto", "progress").tqdm if progress else None
        self._bars: dict[Path, Any] = {}
        self._labels: dict[Path, str] = {}
        self._totals: dict[Path, int] = {}

    def __enter__(self) -> Listener:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for folder in list(self._bars):
            self.finish(folder)
        failed = error is not None and not isinstance(error, KeyboardInterrupt)
        faults = []
        for folder in list(self._logs):
            try:
                self._end_logs(folder, failed=failed)
            except Exception as fault:
                faults.append(fault)
                log.exception("%s: a sink failed at its end", folder)
        if faults and error is None:
            raise faults[0]

    # Of a run

    def begin(self, folder: Path, total_episodes: int) -> None:
        self._totals[folder] = total_episodes
        self._logs[folder] = Logs(self._sinks, folder)

    def note(self, folder: Path | None, text: str) -> None:
        log.info("%s", text.strip("\n"))

    def update(self, folder: Path, episodes: int, error: float) -> None:
        if self._make_bar is None:
            return
        if folder not in self._bars:
            self._bars[folder] = self._make_bar(
                total=self._totals[folder],
                initial=episodes,
                desc=self._labels.get(folder),
                unit=" episodes",
                unit_scale=True,
            )
        bar = self._bars[folder]
        bar.set_postfix_str(f"error {100 * error:.2f} %", refresh=False)
        bar.update(episodes - bar.n)

    def row(self, folder: Path, row: Row, training: _saccade.TrainingAccess) -> bool:
        """Calls the sinks and the callback. Returns True if the run should stop."""
        self._logs[folder].row(row)
        if self._callback is None:
            return False
        answer = self._callback(row, folder, training)
        return isinstance(answer, bool | np.bool_) and bool(answer)

    def finish(self, folder: Path) -> None:
        if folder in self._bars:
            self._bars.pop(folder).close()

    # Of the runs of a study

    def begin_run(self, folder: Path, label: str) -> None:
        self._labels[folder] = label

    def end_run(self, folder: Path, text: str, failed: bool) -> None:
        self.finish(folder)
        self._end_logs(folder, failed=failed)
        level = logging.WARNING if failed else logging.INFO
        log.log(level, "%s: %s", self._labels[folder], text)

    def _end_logs(self, folder: Path, *, failed: bool) -> None:
        if folder in self._logs:
            self._logs.pop(folder).end(failed=failed)


class DownloadListener:
    """Forwards the progress of downloads: notes to the log, and optionally a progress bar for each
    file. The C++ side calls it, on the thread that waits."""

    def __init__(self, progress: bool) -> None:
        self._make_bar = extra("tqdm.auto", "progress").tqdm if progress else None
        self._bar: Any = None

    def begin(self, name: str, size: int) -> None:
        if self._make_bar is not None:
            self._bar = self._make_bar(total=size, desc=name, unit="B", unit_scale=True)

    def update(self, size: int) -> None:
        if self._bar is not None:
            self._bar.update(size - self._bar.n)

    def end(self, whole: bool, url: str) -> None:
        if self._bar is not None:
            if whole:
                self._bar.update(self._bar.total - self._bar.n)
            self._bar.close()
            self._bar = None

    def note(self, text: str) -> None:
        log.info("%s", text)
