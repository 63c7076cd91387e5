"""Packages that are not needed by all."""

from __future__ import annotations

import importlib
from typing import Any


def extra(module: str, name: str) -> Any:
    """A module that comes with the extra `name` of this package."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            f"this needs {module.split('.')[0]}: pip install 'saccade[{name}]'"
        ) from None
