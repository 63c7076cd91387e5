"""A user's own scenes, checked, as the C++ side reads them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, as_plain
from ._labelled import _names
from ._saccade import InputError
from .scenes import Scenes, _boxes

Numbers = npt.NDArray[np.int64]

# Of scenes without an end: where those of the other splits begin.
FIRST_VALID, FIRST_TEST = 2**61, 2**62
_HELD_OUT = 6  # one in so many is for validation, and as many for the test


# By the identity of a user's object, as long as Blocks keep it and its lock.
_locks: weakref.WeakValueDictionary[int, threading.Lock] = weakref.WeakValueDictionary()
_locks_guard = threading.Lock()


def _lock_of(user_object: object) -> threading.Lock:
    """The lock of a user's object, which is called by one thread at a time: it may have a state, as a
    generator has. The caller keeps both."""
    with _locks_guard:
        return _locks.setdefault(id(user_object), threading.Lock())


class Blocks:
    """The scenes of one split. Called with numbers (N), returns canvases (N, rows, cols, channels)
    as uint8, labels (N) and boxes (N, K, 4) as int64, contiguous."""

    def __init__(self, name: str, scenes: Scenes, numbers: Numbers | None = None, first: int = 0) -> None:
        """numbers: those of the object's scenes that are shown; by default all, from `first` on."""
        self.name = name
        self.error: BaseException | None = None  # raised by the user's object
        self._scenes = scenes
        self._lock = _lock_of(getattr(scenes, "made_of", scenes))
        self._numbers = numbers
        self._first = first
        self._shape: tuple[int, ...] | None = None  # of a canvas: rows, cols, channels
        self._classes = 0
        self.size = _size(name, scenes) if numbers is None else len(numbers)

    def expect(self, shape: tuple[int, ...], classes: int) -> None:
        self._shape, self._classes = shape, classes

    def __call__(self, numbers: Numbers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        indices = numbers + self._first if self._numbers is None else self._numbers[numbers]
        try:
            with self._lock:
                return self._checked(self._scenes.canvases(indices), len(indices))
        except BaseException as error:
            self.error = error
            raise

    def first_shape(self) -> tuple[int, ...]:
        """That of a canvas, from the first scenes."""
        count = min(2, self.size) if self.size else 2
        shape: tuple[int, ...] = self(np.arange(count))[0].shape[1:]
        return shape

    def _checked(self, made: Any, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not isinstance(made, (tuple, list)) or len(made) not in (2, 3):
            raise InputError(
                f"{self.name}.canvases() returned {type(made).__name__}; allowed: (canvases, labels, "
                "boxes or None)"
            )
        canvases, labels, boxes = (*made, None)[:3]
        pixels = as_plain("canvases", canvases)
        if pixels.dtype != np.uint8:
            raise InputError(f"canvases: an array of {pixels.dtype}; allowed: uint8")
        if pixels.ndim == 3:
            pixels = pixels[..., np.newaxis]
        shape = self._shape or (None, None, None)
        pixels = as_array("canvases", pixels, np.uint8, (count, *shape))
        if pixels.shape[3] not in (1, 3):
            raise InputError(f"canvases: {pixels.shape[3]} channels; allowed: 1 or 3")
        most = self._classes - 1 if self._classes else None
        classes = as_array("labels", labels, np.int64, (count,), low=0, high=most)
        places = np.zeros((count, 0, 4), np.int64) if boxes is None else _boxes(boxes, count)
        return pixels, classes, places


def _size(name: str, scenes: Any) -> int:
    """The number of scenes; 0: without an end."""
    if not hasattr(scenes, "__len__"):
        return 0
    size = len(scenes)
    if not 1 <= size < 2**31:
        raise InputError(f"{name}: {size} scenes; allowed: 1 to {2**31 - 1}, or an object without a length")
    return size


class OwnScenes:
    """The scenes of a training: `blocks` of its three splits, and the settings that follow."""

    def __init__(
        self, scenes: Any, valid: Any, test: Any, class_names: Sequence[str] | None
    ) -> None:
        for name, given in (("scenes", scenes), ("valid_scenes", valid), ("test_scenes", test)):
            if given is not None and not callable(getattr(given, "canvases", None)):
                raise InputError(
                    f"{name}: {type(given).__name__} without a method canvases(indices); allowed: an "
                    "object as saccade.scenes.Scenes, or what saccade.scenes.from_arrays, "
                    "from_dataset and from_generator return"
                )
        self.blocks = _splits(scenes, valid, test)
        self.sequential = any(getattr(each, "sequential", False) for each in (scenes, valid, test))
        names = _class_names(scenes, class_names)
        shape = self.blocks[0].first_shape()
        for block in self.blocks:
            block.expect(shape, len(names))
            block.first_shape()
        self.settings = {
            "scene.kind": "own",
            "scene.canvas": list(shape[:2]),
            "scene.channels": shape[2],
            "scene.classes": names,
        }

    def error(self) -> BaseException | None:
        """What the user's object raised, or was refused for."""
        return next((block.error for block in self.blocks if block.error is not None), None)


def _splits(scenes: Any, valid: Any, test: Any) -> tuple[Blocks, Blocks, Blocks]:
    size = _size("scenes", scenes)
    missing = [n for n, s in (("valid_scenes", valid), ("test_scenes", test)) if s is None]
    if missing and getattr(scenes, "sequential", False):
        raise InputError(
            f"{' and '.join(missing)}: None; allowed: other scenes, since those of a generator follow "
            "each other without an end"
        )
    if not size:
        return (
            Blocks("scenes", scenes),
            Blocks("scenes", scenes, first=FIRST_VALID) if valid is None else Blocks("valid_scenes", valid),
            Blocks("scenes", scenes, first=FIRST_TEST) if test is None else Blocks("test_scenes", test),
        )
    held_out = size // _HELD_OUT
    if missing and not held_out:
        raise InputError(
            f"scenes: {size}; allowed: at least {_HELD_OUT}, of which some are held out, or "
            f"{' and '.join(missing)} as well"
        )
    order = np.random.default_rng(0).permutation(size)
    given = []
    for name, own in (("test_scenes", test), ("valid_scenes", valid)):
        if own is None:
            order, part = order[:-held_out], order[-held_out:]
            given.append(Blocks("scenes", scenes, part))
        else:
            given.append(Blocks(name, own))
    return Blocks("scenes", scenes, order), given[1], given[0]


def _class_names(scenes: Any, class_names: Sequence[str] | None) -> list[str]:
    names = _names(class_names)
    if not names and getattr(scenes, "class_names", None) is not None:
        names = _names(scenes.class_names)
    if not names and hasattr(scenes, "num_classes"):
        names = [str(k) for k in range(int(scenes.num_classes))]
    if len(names) < 2:
        raise InputError(
            f"class_names: {names or None}; allowed: two names or more, here or as the attribute "
            "class_names of scenes, or its num_classes"
        )
    return names
