"""The families of environments that are registered with Gymnasium."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import gymnasium as gym

from .. import _saccade
from .._saccade import InputError
from .._settings import preset_file

_ENTRY_POINT = "saccade.envs:GlimpseEnv"

NUM_GLIMPSES = "attention.glimpse.num_glimpses"
ZOOM = "attention.glimpse.zoom"

FAMILIES = {
    "Centered28": "mnist28",
    "Translated60": "translated60",
    "Cluttered60": "cluttered60",
    "Cluttered100": "cluttered100",
    "Bag": "bag",
    "Transcribe": "transcribe",
    "Search": "search",
    "Catch": "catch",
    "CircleSquare": "circle_square",
}
"""The families, and the preset that gives each its default scenes, retina and number of
glimpses."""


@dataclass(frozen=True)
class Family:
    """The defaults from a preset: the settings of the scene, the retina and the number of glimpses,
    as YAML; and the first location, "center", or "random" if the preset's agent learns it."""

    settings: dict[str, str]
    first: str


@functools.cache
def find_family(name: str) -> Family:
    """The family with this name."""
    changed = _saccade.changed_settings(preset_file(FAMILIES[name]))
    return Family(
        {
            key: value
            for key, value in changed.items()
            if key.startswith(("scene.", "retina.")) or key == NUM_GLIMPSES
        },
        first="center" if changed.get("attention.glimpse.first") == "center" else "random",
    )


def register_families() -> None:
    """Registers saccade/<family>-v0 with Gymnasium."""
    for family in FAMILIES:
        name = f"saccade/{family}-v0"
        if name not in gym.registry:
            gym.register(
                name,
                entry_point=_ENTRY_POINT,
                vector_entry_point="saccade.envs:GlimpseVectorEnv",
                kwargs={"family": family},
            )


def family_of(id: str) -> str:
    """The family that is registered with this id."""
    spec = gym.spec(id)
    if spec.entry_point != _ENTRY_POINT:
        allowed = ", ".join(f"saccade/{family}-v0" for family in FAMILIES)
        raise InputError(f"id: {id}; allowed: {allowed}")
    return str(spec.kwargs["family"])
