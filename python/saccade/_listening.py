"""What trainings tell while they compute."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ._extras import extra
from ._saccade import InputError

log = logging.getLogger("saccade")

Row = dict[str, float]


class Listener:
    """Passes on what a training tells: rows to a callback, notes to the log, and how far it is to a
    bar, where one is wanted. The C++ side calls it, on the thread that waits for the training."""

    def __init__(self, callback: Callable[[Row, Path], object] | None, progress: bool) -> None:
        if callback is not None and not callable(callback):
            raise InputError(f"callback: {callback!r}; allowed: a function, or None")
        self._callback = callback
        self._make_bar = extra("tqdm.auto", "progress").tqdm if progress else None
        self._bar: Any = None
        self._label: str | None = None
        self._folder = Path()
        self._total = 0

    def __enter__(self) -> Listener:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.finish()

    # Of a training

    def begin(self, total_episodes: int) -> None:
        self._total = total_episodes

    def note(self, text: str) -> None:
        log.info("%s", text.strip("\n"))

    def update(self, episodes: int, error: float) -> None:
        if self._make_bar is None:
            return
        if self._bar is None:
            self._bar = self._make_bar(
                total=self._total,
                initial=episodes,
                desc=self._label,
                unit=" episodes",
                unit_scale=True,
            )
        self._bar.set_postfix_str(f"error {100 * error:.2f} %", refresh=False)
        self._bar.update(episodes - self._bar.n)

    def row(self, row: Row) -> bool:
        """Whether the callback has seen enough."""
        if self._callback is None:
            return False
        answer = self._callback(row, self._folder)
        return isinstance(answer, bool | np.bool_) and bool(answer)

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None

    # Of the runs of a study

    def begin_run(self, label: str, folder: Path) -> None:
        self._label, self._folder = label, folder

    def end_run(self, text: str, failed: bool) -> None:
        self.finish()
        log.log(logging.WARNING if failed else logging.INFO, "%s: %s", self._label, text)
