"""Episodes through which an agent steps."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from . import _saccade
from ._arrays import FloatArray

SamplingMode = Literal["deterministic", "sampled", "argmax"]


@dataclasses.dataclass(eq=False)
class Taken:
    """One look that was taken: where, of agents that look at points, and what was handed to it."""

    locations: np.ndarray | None
    glimpses: np.ndarray | None


class Played:
    """Episodes in the midst of being played, which a state shares with its copies: whoever steps
    next goes back to where their looks part."""

    def __init__(self, agent: _saccade.Agent, steps: _saccade.AgentSteps) -> None:
        self._agent, self._steps = agent, steps
        self._taken: list[Taken] = []
        self._lock = threading.Lock()

    def belongs_to(self, agent: _saccade.Agent) -> bool:
        """Whether it is this agent's, with the weights that it has now."""
        return self._agent is agent and agent.plays(self._steps)

    def take(self, before: Sequence[Taken], last: Taken) -> dict[str, np.ndarray]:
        """The look `last`, after those `before`."""
        with self._lock:
            same = 0
            for mine, theirs in zip(self._taken, before, strict=False):
                if mine is not theirs:
                    break
                same += 1
            self._steps.rewind(same)
            del self._taken[same:]
            for taken in (*before[same:], last):
                self._steps.take(taken.locations, taken.glimpses)
                self._taken.append(taken)
            return self._steps.look()


@dataclasses.dataclass(eq=False)
class State:
    """The state of N episodes that an agent steps through. A `copy()` can continue differently; it
    costs nothing. Copies share the memory of the episodes, about 15 MB for 100 of `cluttered60`:
    taking turns, they take again the looks in which they differ."""

    size: int
    step: int = 0
    images: np.ndarray | None = None
    readout: SamplingMode = "deterministic"
    seed: int = 0
    _taken: list[Taken] = dataclasses.field(default_factory=list, repr=False)
    _played: Played | None = dataclasses.field(default=None, repr=False, compare=False)

    def copy(self) -> State:
        return dataclasses.replace(self, _taken=list(self._taken))

    # What is played follows from what was taken.
    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_played": None}


@dataclasses.dataclass(frozen=True, eq=False)
class Look:
    """One glimpse of N episodes.

    locations (N, 2): the glimpse locations; 0 for agents that see the whole canvas.
    glimpses (N, scales, channels, patch, patch): the pixels, or None.
    probabilities (N, C): the classes after this glimpse; of agents that answer with sequences (N, J,
        C), each symbol.
    next_locations (N, 2): where the agent would look next; None after the last glimpse.
    """

    locations: FloatArray
    glimpses: FloatArray | None
    probabilities: FloatArray
    next_locations: FloatArray | None
