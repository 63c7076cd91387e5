"""What a callback may do with the training that waits for it."""

from __future__ import annotations

import inspect
import os
import pathlib
from collections.abc import Callable, Sequence
from pathlib import Path

from . import _saccade
from ._arguments import as_number
from ._saccade import InputError
from .agents import Agent

Row = dict[str, float]


class Training:
    """The training that a callback was called by, and that waits for it: the second argument of a
    callback `f(row, training)` of `train`, and the third of one of `study`.

    It can be used until the callback returns, also by other threads; afterwards everything but
    `folder` and `episodes` raises InputError.

    folder: the run folder.
    episodes: the number of episodes trained so far.
    """

    def __init__(self, folder: Path, access: _saccade.TrainingAccess) -> None:
        self.folder = folder
        self.episodes: int = access.episodes
        self._access = access

    def agent(self, *, threads: int = 0) -> Agent:
        """A copy of the agent as it is now, with the averaged weights that evaluations use. It can be
        kept: the training does not change it. `threads` and the data it needs are as for `load`."""
        return Agent._copied(os.fspath(self.folder), self._access.save_agent, threads)

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update: what the schedule gives, times
        `learning_rate_factor`."""
        return self._access.learning_rate

    @property
    def learning_rate_factor(self) -> float:
        """The factor on the learning rate of the schedule, 1 at first, from 0 to a million. It can be
        set, and holds from the next update on. Checkpoints keep it, so a resumed run continues with
        it, also without this callback."""
        return self._access.learning_rate_factor

    @learning_rate_factor.setter
    def learning_rate_factor(self, factor: float) -> None:
        self._access.learning_rate_factor = as_number("learning_rate_factor", factor)

    def checkpoint(self) -> Path:
        """Saves the complete state now, as after every evaluation, and returns the path of the file,
        which the next checkpoint replaces."""
        return self._access.save_last()

    def __repr__(self) -> str:
        return f"Training('{self.folder}', {self.episodes} episodes)"


def as_listening(
    callback: Callable[..., object] | None, given: Sequence[str]
) -> Callable[[Row, pathlib.Path, _saccade.TrainingAccess], object] | None:
    """A callback as the listener calls it. `given`: which of row and folder it gets; a Training
    follows if it has one more argument without a default value."""
    if callback is None:
        return None
    if not callable(callback):
        raise InputError(f"callback: {callback!r}; allowed: a function, or None")
    wants_training = _wants_more(callback, given)

    def listening(row: Row, folder: Path, access: _saccade.TrainingAccess) -> object:
        facts = {"row": row, "folder": folder}
        arguments: list[object] = [facts[name] for name in given]
        if wants_training:
            arguments.append(Training(folder, access))
        return callback(*arguments)

    return listening


def _wants_more(callback: Callable[..., object], given: Sequence[str]) -> bool:
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # of some functions that are written in C
        return False
    if _takes(signature, len(given)):
        return False
    if _takes(signature, len(given) + 1):
        return True
    words = ", ".join(given)
    raise InputError(
        f"callback: a function of {signature}; allowed: of ({words}) or ({words}, training)"
    )


def _takes(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True
