"""Episodes that an agent played."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _saccade
from ._arrays import FloatArray, IntArray, as_array
from ._html import table

_SHOWN = 10  # episodes in a notebook
_WEIGHTS = ("glimpse_weights", "windows", "gate", "hidden", "alignment", "core")


class Trace:
    """N episodes, S answers each, of C classes or symbols, to differentiate.

    Whatever was sampled or chosen is held constant: the locations of hard kinds, and the symbols
    that a decoder said before. Everything else is differentiated: soft kinds through their places
    and weights, and with attention.glimpse.detach_state, as in training, not through the state that
    chose a place. So the gradients train what sees, remembers and answers, and where a soft agent
    looks; where a hard agent looks is learned by REINFORCE alone.
    """

    def __init__(self, played: _saccade.AgentTrace) -> None:
        self._played = played
        self.logits: FloatArray = played.logits()  # (N, S, C)

    def gradients(self, dlogits: Any) -> tuple[dict[str, FloatArray], FloatArray]:
        """The gradients of the function of the logits whose own gradient by them is `dlogits` (N, S,
        C): by the weights, summed over the episodes, by name as in `Agent.parameters`; and by the
        images, (N, channels, rows, cols), as numbers in [0, 1]. Any number of times."""
        given = as_array("dlogits", dlogits, np.float32, self.logits.shape)
        return self._played.backward(given)


@dataclasses.dataclass(frozen=True, eq=False)
class Rollout(Mapping[str, np.ndarray]):
    """N episodes of T glimpses, with C classes. Also a mapping from array names to arrays.

    For points, grids and windows alike:
      locations (N, T, 2): glimpse locations, (x, y) in [-1, 1]; for soft kinds the expectation;
        of agents with a zoom (N, T, 3), (x, y, u), where u = 1 is the widest
      glimpses (N, T, scales, channels, patch, patch): the pixels, in [0, 1]; for soft kinds the
        weighted mean; None for agents that see the whole canvas, and in a world of your own
      probabilities (N, T, C): the classes or actions after each glimpse; for a sequence (N, J, C),
        each symbol
      answers (N), (N, J), (N, T): the class, the symbols (padded with -1), or the actions
      labels: the right answers, in the same shape; None if unknown
      errors (N): the missed share of the possible reward; None if unknown
      looks (N): the number of glimpses before the answer; None for agents that take all T. What is
        given by glimpse is of all T, as if the agent had gone on
      stop_chances (N, T): the probability of stopping after each glimpse, having come so far; for a
        sampled rollout 0 or 1; None for those agents
      states (N, T, H): the state of the core after each glimpse
      log_probabilities (N, T): log pi of each location, as in REINFORCE (for points a density); 0
        for a glimpse that the network does not place; None for agents that do not sample locations
      baselines (N, T): b_t of the state before each glimpse; None if no baseline is learned from it
      boxes (N, K, 4): for scenes, the place of each digit in canvas pixels: x, y, width, height, 0
        if there is none; for moving objects (N, T, K, 4)
      canvases (N, channels, rows, cols): for scenes, if requested, the canvas in [0, 1]; for moving
        objects (N, T, ...)
      weights: the available attention weights by name: glimpse_weights (N, T, G) of the candidates
        of a grid, windows (N, T, 5), gate (N, T, F), hidden (N, hops, T), alignment (N, J, T), core
        (N, T, L, T)
    """

    arrays: dict[str, np.ndarray]
    class_names: Sequence[str] = ()

    @property
    def locations(self) -> FloatArray:
        return self.arrays["locations"]

    @property
    def glimpses(self) -> FloatArray | None:
        return self.arrays.get("glimpses")

    @property
    def probabilities(self) -> FloatArray:
        return self.arrays["probabilities"]

    @property
    def answers(self) -> IntArray:
        return self.arrays["answers"]

    @property
    def labels(self) -> IntArray | None:
        return self.arrays.get("labels")

    @property
    def errors(self) -> FloatArray | None:
        return self.arrays.get("errors")

    @property
    def looks(self) -> IntArray | None:
        return self.arrays.get("looks")

    @property
    def stop_chances(self) -> FloatArray | None:
        return self.arrays.get("stop_chances")

    @property
    def states(self) -> FloatArray:
        return self.arrays["states"]

    @property
    def log_probabilities(self) -> FloatArray | None:
        return self.arrays.get("log_probabilities")

    @property
    def baselines(self) -> FloatArray | None:
        return self.arrays.get("baselines")

    @property
    def boxes(self) -> IntArray | None:
        return self.arrays.get("boxes")

    @property
    def canvases(self) -> FloatArray | None:
        return self.arrays.get("canvases")

    @property
    def weights(self) -> dict[str, FloatArray]:
        return {name: self.arrays[name] for name in _WEIGHTS if name in self.arrays}

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def _repr_html_(self) -> str:
        """The first episodes: answers, labels and errors."""
        head = ["episode", "answer"]
        columns = [self._words(self.answers)]
        if self.labels is not None:
            head.append("label")
            columns.append(self._words(self.labels))
        if self.errors is not None:
            head.append("error")
            columns.append([f"{error:.3g}" for error in self.errors[:_SHOWN]])
        shown = [(n, *texts) for n, texts in enumerate(zip(*columns, strict=True))]
        more = len(self.answers) - len(shown)
        return table(head, shown) + (f"<p>and {more} more</p>" if more > 0 else "")

    def _words(self, classes: IntArray) -> list[str]:
        names = dict(enumerate(self.class_names))
        return [
            " ".join(names.get(int(k), str(k)) for k in np.atleast_1d(row) if k >= 0)
            for row in classes[:_SHOWN]
        ]

    def __eq__(self, other: object) -> bool:
        return self is other  # whether arrays are equal has no one answer

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self.arrays.items())
        return f"Rollout({shapes})"
