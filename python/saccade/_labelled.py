"""Images with labels, from arrays, tensors, datasets and loaders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import as_images, as_labels, as_plain, text_of
from ._saccade import InputError

Labelled = tuple[np.ndarray, "np.ndarray | None", "list[str]"]


def labelled(
    images: Any,
    labels: Any,
    class_names: Sequence[str] | None = None,
    *,
    prefix: str = "",
) -> Labelled:
    """Images as bytes (N, rows, cols, channels), their classes (N) or None, and the class names,
    which may be empty.

    `images` is an array or tensor, or it includes the labels: a sequence of (image, label), such as
    a PyTorch Dataset, or an iterable of such pairs or of batches of them, such as a DataLoader.
    Labels are integers or strings. Strings must be in `class_names`; without `class_names`, these
    are the distinct labels, sorted. The `classes` of a dataset (torchvision) are its class names.
    `prefix` is the prefix of the argument names in messages.
    """
    name, word = f"{prefix}images", f"{prefix}labels"
    names = _names(class_names)
    if not _is_array(images):
        if labels is not None:
            raise InputError(
                f"{word}: given, but {name} already include labels; allowed: one of the two"
            )
        names = names or _names(getattr(images, "classes", None), own=True)
        images, labels = _collected(name, images)
    pixels = as_images(name, images)
    if labels is None:
        return pixels, None, names
    if not names:
        names = text_of(word, labels) or []
    return pixels, as_labels(word, labels, len(pixels), names), names


def kind_of(images: Any) -> Any:
    """How a recorded call shows an argument: an array, or the name of another type."""
    if images is None:
        return None
    return as_plain("images", images) if _is_array(images) else _Named(type(images).__name__)


def type_of(value: Any) -> str | None:
    """How a recorded call shows an argument that is an object of the user's: by its type, and
    a class by its name."""
    return None if value is None else _Named((value if isinstance(value, type) else type(value)).__name__)


class _Named(str):
    def __repr__(self) -> str:
        return f"<{self}>"


def _is_array(images: Any) -> bool:
    """Whether to treat `images` as an array. True also for invalid types, which as_images
    refuses."""
    if hasattr(images, "__array__") or isinstance(images, (str, bytes, Mapping)):
        return True
    if isinstance(images, (list, tuple)):
        return not (images and isinstance(images[0], tuple) and len(images[0]) == 2)
    return not isinstance(images, Iterable) and not _has_items(images)


def _has_items(images: Any) -> bool:
    return hasattr(images, "__getitem__") and hasattr(images, "__len__")


def _items(images: Any) -> Iterator[Any]:
    if _has_items(images):  # it may lack the IndexError that ends an iteration
        return (images[i] for i in range(len(images)))
    return iter(images)


def _collected(name: str, images: Any) -> tuple[np.ndarray, Any]:
    """All images and labels of an iterable of pairs or of batches. Labels are None if the items are
    only images."""
    pictures: list[np.ndarray] = []
    labels: list[Any] = []
    for item in _items(images):
        pair = isinstance(item, (tuple, list)) and len(item) == 2
        picture, label = item if pair else (item, None)
        pixels = as_plain(name, picture)
        classes = None if label is None else as_plain(f"labels of {name}", label)
        batch = classes.ndim == 1 if classes is not None else pixels.ndim == 4
        pictures.append(pixels if batch else pixels[np.newaxis])
        if classes is not None:
            labels.append(classes if batch else classes[np.newaxis])
    if not pictures:
        raise InputError(f"{name}: empty; allowed: one or more images")
    if labels and len(labels) != len(pictures):
        raise InputError(f"{name}: only some have labels; allowed: all or none")
    for what, arrays in ((name, pictures), (f"labels of {name}", labels)):
        if len({array.shape[1:] for array in arrays}) > 1 or any(a.ndim == 0 for a in arrays):
            shapes = ", ".join(sorted({str(array.shape[1:]) for array in arrays})[:4])
            raise InputError(f"{what}: have different shapes: {shapes}; allowed: one shape")
    return np.concatenate(pictures), np.concatenate(labels) if labels else None


def _names(class_names: Any, own: bool = False) -> list[str]:
    """A list of class names. `own`: they come from a dataset; invalid ones are ignored."""
    if class_names is None:
        return []
    names = list(class_names) if isinstance(class_names, Iterable) else []
    fit = bool(names) and not isinstance(class_names, str)
    fit = fit and all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    if fit:
        return [str(name) for name in names]
    if own:
        return []
    raise InputError(f"class_names: {class_names!r}; allowed: a list of distinct names")
