"""Random arguments at every entry point of the package: accepted, or refused with a message.

The seed is fixed, so every test run makes the same calls. SACCADE_BORDER_CALLS sets their number.
"""

from __future__ import annotations

import os
import pathlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import saccade
from saccade import _saccade
from saccade._settings import experiment
from test_agents import SMALL

CALLS = int(os.environ.get("SACCADE_BORDER_CALLS", "100"))  # per entry point
# InputError is a ValueError. OSError comes from Python's own system calls.
REFUSALS = (TypeError, ValueError, OverflowError, OSError)
NUMBERS = [0, 1, -1, 2, 7, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, 2**63, 2**64, -(2**63)]
REALS = [0.0, -0.0, 0.5, 1.0, -1.0, 1e-320, 1e300, -1e300, float("nan"), float("inf")]
TEXTS = ["", "\0", "a\0b", "\ud800", "\x1b[2J", "<script>", "../..", "/", "n" * 10_000, "٣", "1e999",
         "null", "[", "{a: *b}", "!!python/object", "deterministic", "sampled", "test", "train"]
DTYPES = ["u1", "i1", "i4", "i8", "u8", "f2", "f4", "f8", ">f4", ">i8", "c16", "?", "U3", "O", "M8[s]"]
SHAPES = [(), (0,), (1,), (3,), (2, 2), (3, 2), (1, 32, 36), (2, 32, 36), (2, 32, 36, 1), (0, 32, 36),
          (2, 36, 32), (2, 32, 36, 3), (1, 1, 1, 1, 1), (2, 1 << 20, 0)]


NO_FILES = ("load", "evaluate", "compare", "video")  # none of the paths is an agent


class Untrue:
    """Claims several protocols and fulfils none."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("no array")

    def __index__(self) -> int:
        raise TypeError("no integer")

    def __fspath__(self) -> Any:
        return 7

    def __len__(self) -> int:
        return 3


def array(draw: random.Random) -> np.ndarray:
    shape, dtype = draw.choice(SHAPES), draw.choice(DTYPES)
    values = np.random.default_rng(draw.randrange(1000)).integers(0, 9, shape)
    made = np.asarray(values).astype(dtype)
    if made.ndim > 0 and draw.random() < 0.3:
        made = made[::-1]
    if made.ndim > 1 and draw.random() < 0.3:
        made = np.asfortranarray(made)
    if made.dtype.kind == "f" and made.size > 0 and draw.random() < 0.3:
        made = np.where(np.arange(made.size).reshape(made.shape) == 0, draw.choice(REALS), made)
    return made


def value(draw: random.Random, depth: int = 0) -> Any:
    kind = draw.randrange(10 if depth < 3 else 6)
    if kind == 0:
        return draw.choice(NUMBERS)
    if kind == 1:
        return draw.choice(REALS)
    if kind == 2:
        return draw.choice(TEXTS)
    if kind == 3:
        return draw.choice([None, True, False, b"", b"\xff\0", 1j, Untrue(), object(), len, ...])
    if kind in (4, 5):
        return array(draw)
    if kind == 6:
        return [value(draw, depth + 1) for _ in range(draw.randrange(4))]
    if kind == 7:
        return tuple(value(draw, depth + 1) for _ in range(draw.randrange(4)))
    if kind == 8:
        return {value_of_key(draw): value(draw, depth + 1) for _ in range(draw.randrange(4))}
    return np.asarray(draw.choice(REALS + NUMBERS), dtype=draw.choice(["f4", "f8", "O"]))


def value_of_key(draw: random.Random) -> Any:
    return draw.choice([*TEXTS, 1, None, (1, 2), "kind", "seed"])


def hand_over(border: str, call: Callable[[random.Random], Any]) -> None:
    refused = 0
    for n in range(CALLS):
        try:
            call(random.Random(f"{border} {n}"))
        except REFUSALS as refusal:
            assert str(refusal), (border, n)
            refused += 1
        except BaseException as fault:
            raise AssertionError(f"{border}, call {n}: {type(fault).__name__}: {fault}") from fault
    assert 0 < refused
    assert refused < CALLS or border in NO_FILES


def some(draw: random.Random, **usual: Callable[[], Any]) -> dict[str, Any]:
    """Arguments: most are valid, some are random."""
    return {
        name: value(draw) if draw.random() < 0.25 else make()
        for name, make in usual.items()
        if draw.random() < 0.9
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("borders") / "run"
    glimpse = {"kind": "hard_gaussian", "num_glimpses": 3}
    saccade.train({**SMALL, "attention": {"glimpse": glimpse}}, out=folder, threads=1)
    return folder


def canvases(draw: random.Random) -> np.ndarray:
    return np.random.default_rng(draw.randrange(9)).integers(0, 256, (2, 32, 36), dtype=np.uint8)


def test_agents(run: pathlib.Path) -> None:
    agent = saccade.load(run, threads=1)
    before = agent.rollout(scenes=5)

    def rollout(draw: random.Random) -> None:
        agent.rollout(
            **some(
                draw,
                images=lambda: canvases(draw),
                labels=lambda: [1, 2],
                split=lambda: "test",
                readout=lambda: "sampled",
                seed=lambda: 3,
                sample=lambda: 1,
                beam=lambda: 1,
            )
        )

    def look(draw: random.Random) -> None:
        state = agent.start(**some(draw, images=lambda: canvases(draw), readout=lambda: "sampled"))
        for _ in range(3):
            given = draw.random() < 0.5
            agent.step(state, **some(draw, locations=lambda: [[0, 0], [0.5, -1]]) if given else {})

    def handed(draw: random.Random) -> None:
        state = agent.start(size=2)
        glimpses = np.zeros((2, 128), np.float32)
        agent.step(
            state, **some(draw, locations=lambda: [[0, 0], [0.5, -1]], glimpses=lambda: glimpses)
        )

    def saliency(draw: random.Random) -> None:
        agent.saliency(**some(draw, images=lambda: canvases(draw), step=lambda: 1))

    for name, call in (("rollout", rollout), ("look", look), ("handed", handed)):
        hand_over(name, call)
    hand_over("saliency", saliency)
    after = agent.rollout(scenes=5)
    for name, expected in before.items():
        np.testing.assert_array_equal(after[name], expected)


def test_files(run: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hand_over("load", lambda draw: saccade.load(value(draw), **some(draw, threads=lambda: 1)))
    hand_over(
        "evaluate",
        lambda draw: saccade.evaluate(value(draw), **some(draw, episodes=lambda: 5)),
    )
    hand_over("compare", lambda draw: saccade.compare(value(draw), value(draw)))
    hand_over("video", lambda draw: saccade.record(value(draw), **some(draw, scenes=lambda: 1)))
    assert list(tmp_path.iterdir()) == []


def test_configurations() -> None:
    keys = ["name", "data.source", "scene.canvas", "retina", "model", "model.core", "training.episodes",
            "attention.glimpse.num_glimpses", "attention.glimpse.kind", "vary", "seeds", "variant"]

    def configure(draw: random.Random) -> None:
        config = dict(SMALL)
        for _ in range(draw.randrange(3)):
            config[draw.choice([*keys, value_of_key(draw)])] = value(draw)
        overrides = {draw.choice(keys): value(draw) for _ in range(draw.randrange(2))}
        _saccade.unused_settings(
            experiment(value(draw) if draw.random() < 0.1 else config, overrides, None)
        )

    hand_over("configuration", configure)


def test_environments() -> None:
    from env_cases import SMALL as SMALL_SCENES
    from env_cases import make

    def act(draw: random.Random) -> None:
        env = make("Cluttered60", **SMALL_SCENES)
        env.reset(**some(draw, seed=lambda: 3, options=dict))
        for _ in range(2):
            env.step(value(draw) if draw.random() < 0.7 else env.action_space.sample())

    def build(draw: random.Random) -> None:
        settings = {**SMALL_SCENES, draw.choice(list(SMALL_SCENES)): value(draw)}
        make("Cluttered60", **settings).reset(seed=1)

    hand_over("action", act)
    hand_over("environment", build)
