"""Optional dependencies."""

from __future__ import annotations

import importlib
from typing import Any


def extra(module: str, name: str) -> Any:
    """Imports a module of the package's optional dependency group `name`.

    The project of PyPI that is named saccade is another one.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            f"this needs {module.split('.')[0]}: pip install '.[{name}]' in a clone of Saccade"
        ) from None
