"""Checks of scalar arguments."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ._saccade import InputError


MAX_SCENES = 100_000_000  # the limit of the command line


def as_integer(name: str, value: object, low: int, high: int) -> int:
    """An integer from `low` to `high`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name}: {value!r}; allowed: an integer from {low} to {high}")
    number = int(value)
    if not low <= number <= high:
        raise InputError(f"{name}: {number}; allowed: {low} to {high}")
    return number


def as_path(name: str, value: str | os.PathLike[str]) -> str:
    """A path, or a name used as one."""
    path = os.fspath(value)
    if not isinstance(path, str) or "\0" in path:
        raise InputError(f"{name}: {path!r}; allowed: text without null characters")
    return path


def as_seed(value: object) -> int:
    """A seed, with the range of the setting."""
    return as_integer("seed", value, 0, 2**63 - 1)


def as_number(name: str, value: object) -> float:
    """A finite number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise InputError(f"{name}: {value!r}; allowed: a number")
    if not math.isfinite(value):
        raise InputError(f"{name}: {value}; allowed: a finite number")
    return float(value)


def as_flag(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}: {value!r}; allowed: True, False")
    return bool(value)


def as_options(options: object, allowed: Collection[str] = ()) -> dict[str, Any]:
    """The `options` of reset()."""
    words = ", ".join(allowed) or "none"
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InputError(f"options: {options!r}; allowed: None, or a dictionary of: {words}")
    for key in options:
        if key not in allowed:
            raise InputError(f"options: unknown key {key!r}; allowed: {words}")
    return dict(options)


def as_choice(name: str, value: object, allowed: Collection[str]) -> str:
    """One of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name}: {value!r}; allowed: {', '.join(allowed)}")
    return value
