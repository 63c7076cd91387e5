"""Gymnasium's own tools on the environments."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
import saccade
from env_cases import FAMILIES, assert_same, make, make_vec, play, settings_of
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode


@pytest.mark.parametrize("flat", [False, True], ids=["dict", "flat"])
@pytest.mark.parametrize("family", FAMILIES)
def test_check_env_has_no_complaints(family, flat):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(family, flat=flat))


@pytest.mark.parametrize("flat", [False, True], ids=["dict", "flat"])
def test_check_env_with_zoom(flat):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(zoom=(1, 3), flat=flat, render_mode="rgb_array"))


def test_check_env_with_halt_and_rendering():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(halt=True, render_mode="rgb_array"))


def test_the_metadata_name_the_autoreset_mode():
    """Each vector environment has its own mode, and the class has the default."""
    assert saccade.envs.GlimpseVectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert make_vec().metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    for mode in AutoresetMode:
        for given in (mode, mode.value):
            envs = make_vec("Centered28", 2, num_glimpses=1, autoreset_mode=given)
            assert envs.metadata["autoreset_mode"] is mode
            envs.reset(seed=0)
            steps = envs.step(envs.action_space.sample())[0]["step"]
            assert (steps == (0 if mode is AutoresetMode.SAME_STEP else 1)).all()


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("family", FAMILIES)
def test_native_matches_sync(family, mode):
    sync = make_vec(family, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode})
    native = make_vec(family, autoreset_mode=mode)
    assert type(sync).__name__ == "SyncVectorEnv"
    for name in (
        "observation_space",
        "action_space",
        "single_observation_space",
        "single_action_space",
    ):
        assert getattr(sync, name) == getattr(native, name)
    assert native.metadata == sync.metadata
    assert_same(play(native, 120), play(sync, 120))


@pytest.mark.parametrize("flat", [False, True], ids=["dict", "flat"])
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize(
    ("family", "more"),
    [
        ("Bag", {"min_digits": 2, "look_price": 0.25}),
        ("Centered28", {"halt": True, "look_price": 0.125, "split": "valid"}),
        ("Transcribe", {"halt": True, "min_digits": 1, "first": "center"}),
    ],
)
def test_native_matches_sync_with_different_episode_lengths(family, more, mode, flat):
    more = {**more, "flat": flat}
    sync = make_vec(
        family, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **more
    )
    native = make_vec(family, autoreset_mode=mode, **more)
    played = play(native, 200)
    ends = np.array([step[2] for step in played if len(step) == 5])
    assert (ends.any(axis=1) & ~ends.all(axis=1)).any()  # not all at once
    assert_same(played, play(sync, 200))


def test_partial_resets_with_seeds_match_sync():
    native, sync = make_vec("Bag"), make_vec("Bag", vectorization_mode="sync")
    mask = np.array([True, False, True, True, False])
    for envs in (native, sync):
        envs.action_space.seed(0)
    assert_same(native.reset(seed=[5, 4, 3, 2, 1]), sync.reset(seed=[5, 4, 3, 2, 1]))
    action = native.action_space.sample()
    assert_same(native.step(action), sync.step(action))
    seeds = [None, 7, 11, None, None]
    assert_same(
        native.reset(seed=seeds, options={"reset_mask": mask}),
        sync.reset(seed=seeds, options={"reset_mask": mask.copy()}),
    )
    assert_same(native.step(action), sync.step(action))
    assert_same(native.reset(), sync.reset())


@pytest.mark.parametrize("family", ["Catch", "Centered28"])
def test_async_matches_native(family):
    asynchronous = make_vec(family, 2, vectorization_mode="async")
    try:
        assert_same(play(asynchronous, 30), play(make_vec(family, 2), 30))
    finally:
        asynchronous.close()


def test_wrappers_of_a_single_environment(tmp_path):
    env = gym.wrappers.RecordEpisodeStatistics(make("Bag"))
    env = gym.wrappers.FlattenObservation(env)
    observation, _ = env.reset(seed=0)
    assert observation.shape == (28 * 28 + 2 + 9,)
    for step in range(8):
        _, reward, terminated, _, info = env.step(env.action_space.sample())
        assert terminated == (step == 7)
    assert info["episode"]["l"] == 8
    assert info["episode"]["r"] == reward


def test_wrappers_of_a_vector_environment():
    envs = gym.wrappers.vector.RecordEpisodeStatistics(make_vec("Bag", 4))
    envs = gym.wrappers.vector.FlattenObservation(envs)
    observation, _ = envs.reset(seed=0)
    assert observation.shape == (4, 28 * 28 + 2 + 9)
    for _ in range(8):
        _, rewards, terminated, _, info = envs.step(envs.action_space.sample())
    assert terminated.all()
    assert (info["episode"]["l"] == 8).all()
    assert (info["episode"]["r"] == rewards).all()


def test_a_spec_makes_the_same_environment():
    envs = make_vec("Bag", 3, threads=1, num_glimpses=5)
    again = gym.make_vec(envs.spec)
    assert again.num_envs == 3
    assert_same(play(envs, 10), play(again, 10))
    env = gym.make("saccade/Bag-v0", num_glimpses=5, **settings_of("Bag"))
    assert env.spec.make().observation_space == env.observation_space


def test_gymnasium_can_import_the_package_by_id():
    assert gym.make("saccade:saccade/Catch-v0").action_space["answer"].n == 3
