"""Checks and converts array arguments for the C++ side."""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._saccade import InputError

_log = logging.getLogger("saccade")
FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int32]
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
    """`value` as a contiguous array of `dtype` and `shape` (None: any length), copied if necessary.

    Integers are accepted as floats; no other conversion of kinds is. Raises InputError for another
    kind or shape, and for numbers that are not finite, outside low..high or beyond `dtype`. The
    message names the argument, its value and what is allowed.
    """
    array = as_plain(name, value)
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
    with np.errstate(over="ignore"):  # refused below
        taken = np.asarray(array, dtype=wanted, order="C")  # also without axes
    if array.dtype != wanted and array.size and not _fits(array, taken):
        raise InputError(f"{name}: {array.min()} to {array.max()}; allowed: the range of {wanted}")
    return taken


def as_plain(name: str, value: Any) -> np.ndarray:
    """`value` as an array of whatever type and shape it has, without a copy where it is one."""
    if hasattr(value, "detach") and hasattr(value, "cpu"):  # a PyTorch tensor on any device
        value = value.detach().cpu()
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: not an array ({error}); allowed: an array") from error


def _check_range(name: str, array: np.ndarray, low: float | None, high: float | None) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"{name}: contains a number that is not finite; allowed: finite numbers")
    for bad in (low is not None and array.min() < low, high is not None and array.max() > high):
        if bad:
            allowed = f"at least {low}" if high is None else f"{low} to {high}"
            raise InputError(f"{name}: {array.min()} to {array.max()}; allowed: {allowed}")


def _fits(array: np.ndarray, taken: np.ndarray) -> bool:
    """Whether no number of `array` is beyond the type of `taken`, which it was converted to."""
    if taken.dtype.kind == "f":
        return bool(np.isfinite(taken).all())
    limits = np.iinfo(taken.dtype)
    return int(array.min()) >= limits.min and int(array.max()) <= limits.max


def as_images(name: str, images: Any) -> np.ndarray:
    """Images as bytes, (N, rows, cols, channels), N >= 1, channels 1 or 3.

    Accepts uint8, and floats in [0, 1], which are rounded to 255 steps. (N, rows, cols) are grey
    images. An array is (N, channels, rows, cols) if its second axis is 1 or 3 and its last is not.
    A copy is reported once to the logger `saccade`.
    """
    array = as_plain(name, images)
    if array.ndim == 3:
        array = array[..., np.newaxis]
    if array.ndim == 4 and array.shape[1] in (1, 3) and array.shape[3] not in (1, 3):
        array = array.transpose(0, 2, 3, 1)
    if array.ndim != 4 or 0 in array.shape or array.shape[3] not in (1, 3):
        raise InputError(
            f"{name}: shape {array.shape}; allowed: (N, rows, cols), (N, rows, cols, channels) or "
            "(N, channels, rows, cols) with 1 or 3 channels, N at least 1"
        )
    if array.dtype.kind == "f":
        array = as_array(name, array, array.dtype, array.shape, low=0.0, high=1.0)
        _log_once(f"{name}: floats were copied and rounded to bytes; uint8 needs no copy")
        return np.round(array * 255.0).astype(np.uint8)
    if array.dtype != np.uint8:
        raise InputError(f"{name}: an array of {array.dtype}; allowed: uint8, or numbers in [0, 1]")
    if not array.flags.c_contiguous:
        _log_once(f"{name}: not contiguous, so it was copied")
    return np.ascontiguousarray(array)


def as_labels(
    name: str,
    labels: Any,
    count: int,
    class_names: Sequence[str] | None = None,
) -> np.ndarray:
    """The classes of `count` images as int64: integers from 0, below the number of `class_names` if
    these are given, or strings from `class_names`."""
    array = as_plain(name, labels)
    if class_names and array.dtype.kind in "UO" and all(isinstance(x, str) for x in array.flat):
        numbers = {text: k for k, text in enumerate(class_names)}
        unknown = [text for text in array.flat if text not in numbers]
        if unknown:
            raise InputError(f"{name}: {str(unknown[0])!r}; allowed: {', '.join(class_names)}")
        array = np.array([numbers[text] for text in array.flat], np.int64).reshape(array.shape)
    most = len(class_names) if class_names else 1_000_000
    return as_array(name, array, np.int64, (count,), low=0, high=most - 1)


def text_of(name: str, labels: Any) -> list[str] | None:
    """The distinct labels, sorted, if they are strings; else None."""
    array = as_plain(name, labels)
    if array.size == 0 or array.dtype.kind not in "UO":
        return None
    return sorted(set(array.flat)) if all(isinstance(x, str) for x in array.flat) else None


@functools.cache
def _log_once(text: str) -> None:
    _log.info(text)
