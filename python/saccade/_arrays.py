"""What users hand over as arrays, made fit for the C++ side or refused."""

from __future__ import annotations

import functools
import logging
from typing import Any

import numpy as np
import numpy.typing as npt

from ._saccade import InputError

_log = logging.getLogger("saccade")
_KINDS = {"b": "booleans", "i": "integers", "f": "numbers"}


def as_array(
    name: str,
    value: Any,
    dtype: npt.DTypeLike,
    shape: tuple[int | None, ...],
    *,
    low: float | None = None,
    high: float | None = None,
) -> np.ndarray:
    """`value` as a contiguous array of `dtype` and `shape` (None: any length), copied if need be.

    Integers pass for numbers, nothing else for another kind. InputError names the argument, what it
    is and what is allowed: another kind or shape, numbers that are not finite or outside low..high.
    """
    array = _plain(name, value)
    wanted = np.dtype(dtype)
    kind = "i" if wanted.kind in "iu" else wanted.kind
    given = "i" if array.dtype.kind in "iu" else array.dtype.kind
    if given != kind and not (kind == "f" and given == "i"):
        raise InputError(f"{name}: an array of {array.dtype}; allowed: {_KINDS[kind]}")
    fits = array.ndim == len(shape) and all(
        side is None or side == there for side, there in zip(shape, array.shape)
    )
    if not fits:
        sides = ", ".join("any" if side is None else str(side) for side in shape)
        raise InputError(f"{name}: shape {array.shape}; allowed: ({sides})")
    if array.size:
        _check_range(name, array, low, high)
    if kind == "i" and array.dtype != wanted and array.size and not _fits(array, wanted):
        raise InputError(f"{name}: {array.min()} to {array.max()}; allowed: what {wanted} holds")
    return np.asarray(array, dtype=wanted, order="C")  # of no axes, too


def _plain(name: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: no array ({error}); allowed: an array") from error


def _check_range(name: str, array: np.ndarray, low: float | None, high: float | None) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"{name}: a number that is not finite; allowed: finite ones")
    for bad in (low is not None and array.min() < low, high is not None and array.max() > high):
        if bad:
            raise InputError(f"{name}: {array.min()} to {array.max()}; allowed: {low} to {high}")


def _fits(array: np.ndarray, dtype: np.dtype) -> bool:
    limits = np.iinfo(dtype)
    return int(array.min()) >= limits.min and int(array.max()) <= limits.max


def as_images(name: str, images: Any) -> np.ndarray:
    """Images as bytes, (N, rows, cols, channels), N >= 1, channels 1 or 3.

    Taken are uint8, and numbers in [0, 1], which are rounded to 255 steps; (N, rows, cols) are grey.
    What has to be copied for that is said once, to the logger `saccade`.
    """
    array = _plain(name, images)
    if array.ndim == 3:
        array = array[..., np.newaxis]
    if array.ndim != 4 or 0 in array.shape or array.shape[3] not in (1, 3):
        raise InputError(
            f"{name}: shape {array.shape}; allowed: (N, rows, cols) or (N, rows, cols, channels) "
            "with 1 or 3 channels, N at least 1"
        )
    if array.dtype.kind == "f":
        array = as_array(name, array, array.dtype, array.shape, low=0.0, high=1.0)
        _say_once(f"{name}: numbers were copied and rounded to bytes; uint8 need no copy")
        return np.round(array * 255.0).astype(np.uint8)
    if array.dtype != np.uint8:
        raise InputError(f"{name}: an array of {array.dtype}; allowed: uint8, or numbers in [0, 1]")
    if not array.flags.c_contiguous:
        _say_once(f"{name}: was not contiguous and was copied")
    return np.ascontiguousarray(array)


def as_labels(name: str, labels: Any, count: int, classes: int = 1_000_000) -> np.ndarray:
    """Classes of `count` images, integers 0 .. classes - 1, as int64."""
    return as_array(name, labels, np.int64, (count,), low=0, high=classes - 1)


@functools.cache
def _say_once(text: str) -> None:
    _log.info(text)
