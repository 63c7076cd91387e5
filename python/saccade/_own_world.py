"""A user's own world, checked, as the C++ side plays in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import as_array
from ._labelled import _names
from ._saccade import InputError

_SEEN = ("glimpses", "locations", "labels")
Seen = tuple[np.ndarray, np.ndarray | None, np.ndarray | None]


class OwnWorlds:
    """The worlds of a training, and the settings that follow. Called with a number of episodes, makes
    one."""

    def __init__(self, make: Callable[[int], Any], class_names: Sequence[str] | None) -> None:
        if not callable(make):
            raise InputError(
                f"world: {type(make).__name__}; allowed: a function of the number of episodes that makes "
                "a world, as its class is, or what saccade.worlds.from_vector_env returns"
            )
        self._make = make
        self._made: list[_Episodes] = []
        self._error: BaseException | None = None
        self.shape: tuple[int, ...] | None = None  # of a glimpse
        self.num_classes = 0  # 0: not known yet
        try:
            self.settings = self._look_around(class_names)
        finally:
            self.close()

    def __call__(self, count: int) -> _Episodes:
        return self.call(lambda: self._checked(self._make(count), count))

    def call(self, function: Callable[[], Any]) -> Any:
        """What a function returns; remembers the first that it raises."""
        try:
            return function()
        except BaseException as error:
            self._error = self._error or error
            raise

    def error(self) -> BaseException | None:
        """What the user's world raised, or was refused for."""
        return self._error

    def close(self) -> None:
        """Closes the worlds that can be closed."""
        made, self._made = self._made, []
        for episodes in made:
            close = getattr(episodes.world, "close", None)
            if callable(close):
                close()

    def _checked(self, world: Any, count: int) -> _Episodes:
        for name in ("reset", "look"):
            if not callable(getattr(world, name, None)):
                raise InputError(
                    f"world: {type(world).__name__} without a method {name}; allowed: an object as "
                    "saccade.worlds.World"
                )
        episodes = _Episodes(self, world, count)
        self._made.append(episodes)
        return episodes

    def _look_around(self, class_names: Sequence[str] | None) -> dict[str, Any]:
        first = self(2)
        game = callable(getattr(first.world, "act", None))
        names = _answer_names(first.world, game, class_names)
        self.num_classes = len(names)
        first.reset(np.arange(2))
        self.shape = first.look(np.zeros((2, 2), np.float32))[0].shape[1:]
        settings: dict[str, Any] = {
            "scene.kind": "own_game" if game else "own_world",
            "scene.classes": names,
            "scene.glimpse_size": math.prod(self.shape),
        }
        if game:
            settings["scene.best_return"] = float(getattr(first.world, "best_return", 1.0))
        return settings


class _Episodes:
    """One world, whose arrays are checked."""

    def __init__(self, owner: OwnWorlds, world: Any, count: int) -> None:
        self.world = world
        self._owner = owner
        self._count = count

    def reset(self, scenes: np.ndarray) -> np.ndarray | None:
        return self._owner.call(lambda: self._labels(self.world.reset(scenes)))

    def look(self, locations: np.ndarray) -> Seen:
        return self._owner.call(lambda: self._seen(self.world.look(locations)))

    def act(self, actions: np.ndarray) -> np.ndarray:
        shape = (self._count,)
        return self._owner.call(lambda: as_array("rewards", self.world.act(actions), np.float32, shape))

    def _seen(self, seen: Any) -> Seen:
        parts = seen if isinstance(seen, Mapping) else {"glimpses": seen}
        if "glimpses" not in parts or any(key not in _SEEN for key in parts):
            raise InputError(f"look() returned a dict of {list(parts)}; allowed: {', '.join(_SEEN)}")
        places = parts.get("locations")
        if places is not None:
            places = as_array("locations", places, np.float32, (self._count, 2), low=-1, high=1)
        return self._glimpses(parts["glimpses"]), places, self._labels(parts.get("labels"))

    def _glimpses(self, glimpses: Any) -> np.ndarray:
        shape = self._owner.shape
        if shape is not None:
            seen = as_array("glimpses", glimpses, np.float32, (self._count, *shape))
            return seen.reshape(self._count, -1)
        sides = max(1, np.ndim(glimpses) - 1)
        seen = as_array("glimpses", glimpses, np.float32, (self._count, *[None] * sides))
        if not seen.size:
            raise InputError(f"glimpses: shape {seen.shape}; allowed: one value or more")
        return seen

    def _labels(self, labels: Any) -> np.ndarray | None:
        if labels is None:
            return None
        most = self._owner.num_classes - 1
        return as_array("labels", labels, np.int64, (self._count,), low=0, high=most)


def _answer_names(world: Any, game: bool, class_names: Sequence[str] | None) -> list[str]:
    kind, plural = ("action", "actions") if game else ("class", "classes")
    names = _names(class_names)
    if not names and getattr(world, f"{kind}_names", None) is not None:
        names = _names(getattr(world, f"{kind}_names"))
    if not names and hasattr(world, f"num_{plural}"):
        names = [str(k) for k in range(int(getattr(world, f"num_{plural}")))]
    if len(names) < 2:
        raise InputError(
            f"world: {type(world).__name__} with the {plural} {names or None}; allowed: two names or "
            f"more as its attribute {kind}_names, or their number as num_{plural}"
        )
    return names
