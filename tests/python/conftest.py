"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def program() -> str:
    """The C++ program: $SACCADE_PROGRAM, or one from the build folder."""
    build = Path(__file__).parents[2] / "build"
    built = [build / preset / "saccade" for preset in ("release", "check")]
    for path in [Path(os.environ.get("SACCADE_PROGRAM", "")), *built]:
        if path.is_file():
            return str(path.absolute())
    pytest.skip("needs the program: SACCADE_PROGRAM, or build/release/saccade")
