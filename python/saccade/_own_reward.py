"""A user's own reward, checked, as the C++ side calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import as_array
from ._saccade import InputError


class OwnReward:
    """Called with probabilities (T, B, C), labels (B), boxes (B, K, 4) and locations (T, B, L) of a
    lane; returns what the user's function makes of them, (T, B) as float32."""

    settings = {"reinforce.reward": "own"}

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise InputError(
                f"reward: {function!r}; allowed: a function of (probabilities, labels, facts), or None"
            )
        self._function = function
        self._error: BaseException | None = None

    def __call__(
        self, probabilities: np.ndarray, labels: np.ndarray, boxes: np.ndarray, locations: np.ndarray
    ) -> np.ndarray:
        facts = {"boxes": boxes, "locations": locations}
        try:
            given = self._function(probabilities, labels, facts)
            return as_array("reward", given, np.float32, probabilities.shape[:2])
        except BaseException as error:
            self._error = error
            raise

    def error(self) -> BaseException | None:
        """What the user's function raised, or was refused for."""
        return self._error
