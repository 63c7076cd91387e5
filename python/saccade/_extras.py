"""Optional dependencies."""

from __future__ import annotations

import importlib
from typing import Any


def extra(module: str, name: str) -> Any:
    """Imports a module of the package's optional dependency group `name`."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            f"this needs {module.split('.')[0]}: pip install 'saccade[{name}]'"
        ) from None
