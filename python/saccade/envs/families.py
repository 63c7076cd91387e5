"""The task families that are registered with Gymnasium."""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium as gym

from .._saccade import InputError

_ENTRY_POINT = "saccade.envs:GlimpseEnv"


@dataclass(frozen=True)
class Family:
    """The scene and the retina of a task, by the keys of a configuration, and how it is looked at.

    As the preset of experiments/ has them.
    """

    preset: str
    settings: dict[str, object]
    num_glimpses: int
    first: str = "random"


def _cluttered(side: int, num_distractors: int, scales: int) -> dict[str, object]:
    return {
        "scene.kind": "cluttered",
        "scene.canvas": [side, side],
        "scene.num_distractors": num_distractors,
        "retina.patch_size": 12,
        "retina.scales": scales,
    }


FAMILIES = {
    "Centered28": Family(
        "mnist28",
        {
            "scene.kind": "centered",
            "scene.canvas": [28, 28],
            "retina.patch_size": 8,
            "retina.scales": 1,
        },
        num_glimpses=6,
    ),
    "Translated60": Family(
        "translated60",
        {
            "scene.kind": "translated",
            "scene.canvas": [60, 60],
            "retina.patch_size": 12,
            "retina.scales": 3,
        },
        num_glimpses=8,
    ),
    "Cluttered60": Family("cluttered60", _cluttered(60, 4, 3), num_glimpses=8),
    "Cluttered100": Family("cluttered100", _cluttered(100, 8, 4), num_glimpses=8),
    "Bag": Family(
        "bag",
        {
            "scene.kind": "bag",
            "scene.canvas": [56, 112],
            "scene.num_digits": 8,
            "retina.patch_size": 28,
            "retina.scales": 1,
        },
        num_glimpses=8,
    ),
    "Transcribe": Family(
        "transcribe",
        {
            "scene.kind": "transcribe",
            "scene.canvas": [60, 100],
            "scene.num_digits": 3,
            "scene.num_distractors": 4,
            "retina.patch_size": 16,
            "retina.scales": 2,
        },
        num_glimpses=6,
    ),
    "Catch": Family(
        "catch",
        {
            "scene.kind": "catch",
            "scene.canvas": [24, 24],
            "retina.patch_size": 6,
            "retina.scales": 3,
            "retina.pooling": "max",
        },
        num_glimpses=23,
        first="center",
    ),
}


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
    """The family that is registered under an id."""
    spec = gym.spec(id)
    if spec.entry_point != _ENTRY_POINT:
        allowed = ", ".join(f"saccade/{family}-v0" for family in FAMILIES)
        raise InputError(f"id: {id}; allowed: {allowed}")
    return str(spec.kwargs["family"])
