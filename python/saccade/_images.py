"""Stores a user's images and labels where a run finds them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _saccade
from ._labelled import labelled
from ._saccade import InputError


def keep_images(
    images: Any,
    labels: Any,
    test_images: Any = None,
    test_labels: Any = None,
    class_names: Sequence[str] | None = None,
) -> Path | None:
    """Stores the images as IDX files and returns their folder, for `data: {source: idx, path:
    ...}`. Returns None without images. The folder is in the cache folder, named by a checksum."""
    for first, second, names in (
        (images, labels, "images and labels"),
        (test_images, test_labels, "test_images and test_labels"),
    ):
        if first is None and second is not None:
            raise InputError(f"{names}: only one is given; allowed: both or none")
    if images is None:
        if test_images is not None:
            raise InputError("test_images: given without images; allowed: together with images")
        if class_names is not None:
            raise InputError("class_names: given without images; allowed: together with images")
        return None

    pixels, classes, found = _pair("", images, labels, class_names)
    test_pixels, test_classes = None, None
    if test_images is not None:
        test_pixels, test_classes, _ = _pair("test_", test_images, test_labels, found or None)
    content = hashlib.sha256()
    for array in (pixels, classes, test_pixels, test_classes):
        if array is not None:
            content.update(repr(array.shape).encode())
            content.update(array.data)
    if found:
        content.update(json.dumps(found).encode())
    seed = int.from_bytes(content.digest()[:8], "little")
    name = content.hexdigest()[:32]
    return _saccade.keep_images(pixels, classes, test_pixels, test_classes, found, name, seed)


def _pair(
    prefix: str, images: Any, labels: Any, class_names: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    pixels, classes, names = labelled(images, labels, class_names, prefix=prefix)
    if classes is None:
        raise InputError(
            f"{prefix}images and {prefix}labels: only one is given; allowed: both or none"
        )
    return pixels, classes, names
