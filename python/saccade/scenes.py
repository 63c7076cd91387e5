"""Your own scenes, to train on without a line of C++.

`saccade.train(config, scenes=MyScenes())` takes any object with a method `canvases`, as the class
`Scenes` describes it. `from_arrays`, `from_dataset` and `from_generator` make one of what you have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, as_images, as_labels, as_plain
from ._labelled import _names, labelled
from ._saccade import InputError

__all__ = ["Scenes", "from_arrays", "from_dataset", "from_generator"]

Made = tuple[Any, Any, Any]


class Scenes(Protocol):
    """What `saccade.train(scenes=...)` takes.

    Optional attributes:
      class_names: the names of the classes, in the order of the labels; or
      num_classes: their number, when the numbers are their names.
      __len__: the number of different scenes. Without it there is no end to them.
    """

    def canvases(self, indices: npt.NDArray[np.int64]) -> Made:
        """Makes the scenes of these numbers (B): (canvases, labels, boxes).

        canvases (B, rows, cols) or (B, rows, cols, channels): uint8, of 1 or 3 channels; all scenes
            have one size.
        labels (B): the classes, integers from 0.
        boxes: where the things to look at are, in pixels: x, y, width, height, as (B, 4) or, with up
            to 16 in a scene, (B, K, 4); zeros are none. The shares of looks on target are measured
            by them. None: unknown.

        A scene depends on its number alone, so that a run has the same bytes with any number of
        threads, and after it was stopped and resumed: draw with `numpy.random.default_rng([seed,
        index])`, not from a generator that goes on. It is called with whole blocks, ahead of time,
        by a thread of its own. One object is called by one thread at a time, also if several
        trainings share it; different objects may be called at once.
        """
        ...


class _ArrayScenes:
    def __init__(self, canvases: np.ndarray, labels: np.ndarray, boxes: Any, names: list[str]) -> None:
        self.class_names = names or [str(k) for k in range(int(labels.max()) + 1)]
        self._parts = canvases, labels, None if boxes is None else _boxes(boxes, len(canvases))

    def __len__(self) -> int:
        return len(self._parts[0])

    def canvases(self, indices: npt.NDArray[np.int64]) -> Made:
        canvases, labels, boxes = self._parts
        return canvases[indices], labels[indices], None if boxes is None else boxes[indices]


def from_arrays(
    canvases: Any,
    labels: Any = None,
    boxes: Any = None,
    *,
    class_names: Sequence[str] | None = None,
) -> Scenes:
    """Scenes from memory: an array or tensor (N, rows, cols), (N, rows, cols, 1 or 3) or (N, 1 or
    3, rows, cols) of bytes or of floats in [0, 1], or a list of arrays or of PIL images, of one
    size, with their labels (N), integers or strings, and boxes (N, 4) or (N, K, 4), or none.
    """
    images, classes, names = labelled(canvases, labels, class_names)
    if classes is None:
        raise InputError("labels: None; allowed: one for each of the canvases")
    return _ArrayScenes(images, classes, boxes, names)


class _DatasetScenes:
    def __init__(self, dataset: Any, class_names: list[str]) -> None:
        self.class_names = class_names
        self.made_of = dataset  # which is called by one thread at a time, whoever else reads it

    def __len__(self) -> int:
        return len(self.made_of)

    def canvases(self, indices: npt.NDArray[np.int64]) -> Made:
        return _stacked((self.made_of[int(index)] for index in indices), self.class_names)


def from_dataset(dataset: Any, *, class_names: Sequence[str] | None = None) -> Scenes:
    """Scenes from a map-style dataset, such as a `torch.utils.data.Dataset`: it has a length, and
    an item is (image, label) or (image, label, boxes), as `from_arrays` takes them. An item is read
    whenever its scene is shown, so that it needs no memory; it must be the same each time.

    class_names: by default the `classes` of the dataset.
    """
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        raise InputError(
            f"dataset: {type(dataset).__name__}; allowed: one with a length and items, such as "
            "torch.utils.data.Dataset (from_generator takes an iterable)"
        )
    names = _names(class_names) or _names(getattr(dataset, "classes", None), own=True)
    if not names:
        raise InputError("class_names: None, and the dataset has no `classes`; allowed: one of the two")
    return _DatasetScenes(dataset, names)


class _GeneratedScenes:
    sequential = True  # a scene far away costs all before it

    def __init__(self, make: Callable[[], Iterable[Any]], class_names: list[str]) -> None:
        self.class_names = class_names
        self._make = make
        self._begin()

    def _begin(self) -> None:
        self._items: Iterator[Any] = iter(self._make())
        self._next = 0  # number of the item that comes next

    def canvases(self, indices: npt.NDArray[np.int64]) -> Made:
        return _stacked((self._item(int(index)) for index in indices), self.class_names)

    def _item(self, index: int) -> Any:
        if index < self._next:
            self._begin()
        for item in self._items:
            self._next += 1
            if self._next > index:
                return item
        raise ValueError(f"the generator ended after {self._next} scenes, before number {index}")


def from_generator(
    make: Callable[[], Iterable[Any]], *, class_names: Sequence[str] | int
) -> Scenes:
    """Scenes from a generator: `make()` returns a new one, which yields (image, label) or (image,
    label, boxes) without end, the same ones each time. Scene n is the n-th; a run that is resumed
    passes over those before it. `train` needs others for `valid_scenes` and `test_scenes`.

    class_names: the names of the classes, or their number.
    """
    if not callable(make):
        raise InputError(
            f"make: {type(make).__name__}; allowed: a function that returns a new generator"
        )
    if isinstance(class_names, int):
        return _GeneratedScenes(make, [str(k) for k in range(class_names)])
    return _GeneratedScenes(make, _names(class_names))


def _boxes(boxes: Any, count: int) -> np.ndarray:
    """(N, 4) or (N, K, 4) as int64 (N, K, 4)."""
    array = as_plain("boxes", boxes)
    if array.ndim == 2:
        array = array[:, np.newaxis]
    return as_array("boxes", array, np.int64, (count, None, 4), low=0, high=2**30)


def _stacked(items: Iterator[Any], class_names: list[str]) -> Made:
    """One block of the items (image, label) or (image, label, boxes)."""
    canvases: list[np.ndarray] = []
    labels: list[Any] = []
    boxes: list[np.ndarray] = []
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
            raise InputError(
                f"a scene: {type(item).__name__}; allowed: (image, label) or (image, label, boxes)"
            )
        canvases.append(as_images("image", as_plain("image", item[0])[np.newaxis])[0])
        labels.append(as_plain("label", item[1]))
        if len(item) == 3 and item[2] is not None:
            boxes.append(as_plain("boxes", item[2]))
    for what, arrays in (("images", canvases), ("boxes", boxes)):
        if len({array.shape for array in arrays}) > 1:
            shapes = ", ".join(sorted({str(array.shape) for array in arrays})[:4])
            raise InputError(f"{what}: have different shapes: {shapes}; allowed: one shape")
    if boxes and len(boxes) != len(canvases):
        raise InputError("boxes: only some scenes have them; allowed: all or none")
    classes = as_labels("labels", np.array(labels), len(labels), class_names)
    return np.stack(canvases), classes, np.stack(boxes) if boxes else None
