"""Saccade."""

from ._saccade import InputError

__all__ = ["InputError"]
