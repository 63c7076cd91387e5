"""Actions that are chosen from a number of possible ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from .._arguments import as_integer
from .._arrays import as_array
from .._saccade import InputError

Array = npt.NDArray[Any]

KINDS = ("continuous", "discrete", "flat_discrete")
PLACES = (7, 7)  # by default
_MOST = 1_000_000  # actions of one Discrete space
_ZOOMS = np.array([-1.0, 0.0, 1.0], np.float32)  # the closest, the middle, the widest


class DiscreteActions:
    """Actions (place, zoom, answer, halt) as numbers.

    places (rows, cols): the grid of locations, the centres of equal tiles, row by row from the upper
    left. An action is an array of `sizes`, or, `flat`, one number: the place counts most. The zoom
    is there if a location has three numbers, the answer once for each symbol, the halt if
    episodes can be halted.
    """

    def __init__(
        self,
        places: Sequence[int],
        location_size: int,
        symbols: int,
        classes: int,
        halts: bool,
        flat: bool,
    ) -> None:
        rows, cols = sides(places)
        x = (2 * np.arange(cols) + 1) / cols - 1
        y = (2 * np.arange(rows) + 1) / rows - 1
        self.places = np.stack(np.broadcast_arrays(x, y[:, None]), -1).reshape(-1, 2).astype(np.float32)
        self._zooms = location_size == 3
        self._symbols = symbols
        self._halts = halts
        self.sizes = [rows * cols, *[len(_ZOOMS)] * self._zooms, *[classes] * symbols, *[2] * halts]
        self._count = int(np.prod([float(size) for size in self.sizes]))
        self._flat = flat
        if flat and self._count > _MOST:
            raise InputError(
                f"actions: flat_discrete, of {self._count} actions; allowed: up to {_MOST}, or "
                "discrete, a number for each part"
            )

    def space(self) -> spaces.Space[Any]:
        """Of a single environment."""
        return spaces.Discrete(self._count) if self._flat else spaces.MultiDiscrete(self.sizes)

    def read(
        self, actions: object, batch: tuple[int, ...], count: int
    ) -> tuple[Array, Array, Array | None]:
        """Locations (N, L), answers and halts (N) of actions with the leading axes `batch`, N in
        all."""
        if self._flat:
            chosen = as_array("action", actions, np.int64, batch, low=0, high=self._count - 1)
            parts = np.stack(np.unravel_index(chosen.reshape(count), self.sizes), -1)
        else:
            shape = (*batch, len(self.sizes))
            parts = as_array("action", actions, np.int64, shape, low=0).reshape(count, -1)
            beyond = parts >= np.array(self.sizes)
            if beyond.any():
                row = parts[int(np.flatnonzero(beyond.any(-1))[0])]
                raise InputError(f"action: {row.tolist()}; allowed: below {self.sizes}")
        location = self.places[parts[:, 0]]
        if self._zooms:
            location = np.concatenate([location, _ZOOMS[parts[:, 1]][:, None]], -1)
        first = 1 + self._zooms
        answer = np.ascontiguousarray(parts[:, first : first + self._symbols])
        return np.ascontiguousarray(location), answer, parts[:, -1] == 1 if self._halts else None


def sides(places: Sequence[int]) -> tuple[int, int]:
    if isinstance(places, (str, bytes)) or not hasattr(places, "__len__") or len(places) != 2:
        raise InputError(f"places: {places!r}; allowed: (rows, cols) of the grid of locations")
    rows, cols = (as_integer("places", side, 1, 256) for side in places)
    return rows, cols
