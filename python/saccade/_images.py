"""A user's own images and labels, kept where a run finds them again."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _saccade
from ._arrays import as_images, as_labels
from ._saccade import InputError


def keep_images(
    images: ArrayLike | None,
    labels: ArrayLike | None,
    test_images: ArrayLike | None = None,
    test_labels: ArrayLike | None = None,
) -> Path | None:
    """The folder that holds these arrays as IDX files, for `data: {source: idx, path: ...}`; None
    without arrays. It stands in the cache folder under the checksum of their content."""
    for first, second, names in (
        (images, labels, "images and labels"),
        (test_images, test_labels, "test_images and test_labels"),
    ):
        if (first is None) != (second is None):
            raise InputError(f"{names}: one without the other; allowed: both or none")
    if images is None:
        if test_images is not None:
            raise InputError("test_images: without images; allowed: beside these")
        return None

    pixels, classes = _pair("", images, labels)
    test_pixels, test_classes = (
        (None, None) if test_images is None else _pair("test_", test_images, test_labels)
    )
    content = hashlib.sha256()
    for array in (pixels, classes, test_pixels, test_classes):
        if array is not None:
            content.update(repr(array.shape).encode())
            content.update(array.data)
    seed = int.from_bytes(content.digest()[:8], "little")
    name = content.hexdigest()[:32]
    return _saccade.keep_images(pixels, classes, test_pixels, test_classes, name, seed)


def _pair(prefix: str, images: ArrayLike, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    pixels = as_images(f"{prefix}images", images)
    return pixels, as_labels(f"{prefix}labels", labels, len(pixels))
