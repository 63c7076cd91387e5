"""Shared code of the environment tests."""

import gymnasium as gym
import numpy as np
import saccade

FAMILIES = sorted(saccade.envs.FAMILIES)

# Small scenes and few glimpses, for tests with many episodes.
SMALL = {
    "data": "synthetic",
    "kind": "translated",
    "canvas": [32, 32],
    "patch_size": 8,
    "scales": 2,
    "num_glimpses": 3,
}


def settings_of(family):
    """Settings that need no download."""
    return {} if family in ("Catch", "CircleSquare") else {"data": "synthetic"}


def make(family="Centered28", **arguments):
    return gym.make(f"saccade/{family}-v0", **{**settings_of(family), **arguments}).unwrapped


def make_vec(family="Centered28", num_envs=5, **arguments):
    return gym.make_vec(
        f"saccade/{family}-v0", num_envs=num_envs, **{**settings_of(family), **arguments}
    )


KEPT = make()  # keeps its digits alive, which all environments share, so that they are drawn once


def assert_same(one, other, where="") -> None:
    """Asserts equal types, dtypes, shapes and bits."""
    assert type(one) is type(other), (where, type(one), type(other))
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            assert_same(one[key], other[key], f"{where}/{key}")
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(other), where
        for i, (a, b) in enumerate(zip(one, other)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, (where, one.dtype, other.dtype)
        assert one.shape == other.shape, (where, one.shape, other.shape)
        if one.dtype == object:
            assert_same(list(one), list(other), where)
        else:
            assert one.tobytes() == other.tobytes(), where
    else:
        assert one == other, (where, one, other)


def play(envs, steps, seed=3):
    """The observations, rewards and infos of random actions."""
    envs.action_space.seed(seed)
    played = [envs.reset(seed=seed)]
    mode = envs.metadata["autoreset_mode"]
    for _ in range(steps):
        result = envs.step(envs.action_space.sample())
        played.append(result)
        ended = result[2] | result[3]
        if mode is gym.vector.AutoresetMode.DISABLED and ended.any():
            played.append(envs.reset(options={"reset_mask": ended}))
    return played
