"""The environments with Stable-Baselines3."""

import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from env_cases import FAMILIES, SMALL, make, settings_of
from saccade import InputError

pytest.importorskip("stable_baselines3")

import saccade.sb3
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecMonitor

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("family", FAMILIES)
def test_check_env_has_no_complaints(family):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(family, flat=True, render_mode="rgb_array"))


@pytest.mark.parametrize("family", ["Bag", "Catch"])
def test_our_vector_environment_matches_dummy_vec_env(family):
    settings = settings_of(family)
    if family == "Bag":
        settings["min_digits"] = 2
    ours = saccade.sb3.make_vec(f"saccade/{family}-v0", 4, **settings)
    theirs = make_vec_env(f"saccade/{family}-v0", 4, env_kwargs={**settings, "flat": True}, seed=5)
    ours.seed(5)
    ours.action_space.seed(0)
    assert (ours.reset() == theirs.reset()).all()
    ends = 0
    for _ in range(60):
        actions = np.stack([ours.action_space.sample() for _ in range(4)])
        for one, other in zip(ours.step(actions)[:3], theirs.step(actions)[:3]):
            assert one.dtype == other.dtype
            assert (one == other).all()
        seen, _, ended, infos = ours.step(actions)
        other_seen, _, _, others = theirs.step(actions)
        assert (seen == other_seen).all()
        for info, other, end in zip(infos, others, ended):
            ends += end
            assert ("terminal_observation" in info) == end
            if end:
                assert (info["terminal_observation"] == other["terminal_observation"]).all()
                assert info["TimeLimit.truncated"] == other["TimeLimit.truncated"]
    assert ends > 0


def test_wrappers_and_rendering():
    envs = saccade.sb3.make_vec("saccade/Translated60-v0", 2, **SMALL, render_mode="rgb_array")
    envs.seed(0)
    envs.reset()
    for _ in range(3):
        _, rewards, ended, infos = envs.step(np.zeros((2, 12), np.float32))
    assert ended.all()
    assert [info["episode"]["r"] for info in infos] == rewards.tolist()
    assert envs.render().shape[2] == 3
    assert envs.get_attr("render_mode") == ["rgb_array"] * 2
    assert envs.env_is_wrapped(VecMonitor) == [False, False]
    envs.close()


def test_rewards_of_episodes_are_reported():
    """Stable-Baselines3 logs them as rollout/ep_rew_mean."""
    envs = saccade.sb3.make_vec("saccade/Translated60-v0", 2, **SMALL, look_price=0.25)
    envs.seed(0)
    envs.reset()
    steps = [envs.step(np.zeros((2, 12), np.float32)) for _ in range(3)]
    returns = np.sum([rewards for _, rewards, _, _ in steps], axis=0)
    for info, total in zip(steps[-1][3], returns):
        assert info["episode"]["r"] == total
        assert info["episode"]["l"] == 3
    assert not any("episode" in info for info in steps[0][3])
    envs.close()


def test_fixed_arguments_are_refused():
    for more in ({"flat": False}, {"autoreset_mode": "Disabled"}):
        with pytest.raises(InputError, match=f"{next(iter(more))}: "):
            saccade.sb3.make_vec("saccade/Catch-v0", 2, **more)
    with pytest.raises(InputError, match="id: CartPole-v1; allowed: saccade/Centered28-v0, "):
        saccade.sb3.make_vec("CartPole-v1", 2)


def test_ppo_beats_the_random_policy():
    output = subprocess.run(
        [sys.executable, EXAMPLES / "ppo_stable_baselines.py"],
        check=True,
        capture_output=True,
        text=True,
        timeout=1200,
    ).stdout
    random, learned = map(float, re.findall(r": (\d\.\d+)$", output, re.MULTILINE))
    assert 0.05 < random < 0.15
    assert learned > 0.5
