"""Training with a reward that Python computes."""

from __future__ import annotations

import numpy as np
import pytest
import saccade
from training_support import SMALL, assert_same_results

CONFIG = {
    **SMALL,
    "name": "own",
    "scene.kind": "circle_square",
    "scene.canvas": [28, 28],
    "retina.patch_size": 8,
    "retina.scales": 1,
    "attention.glimpse.num_glimpses": 3,
}


def gain(probabilities, labels, facts):
    """reinforce.reward: gain, written out in single precision."""
    truth = probabilities[:, np.arange(len(labels)), labels]
    return np.diff(truth, axis=0, prepend=np.float32(1 / probabilities.shape[2]))


def test_a_reward_written_in_python_trains_as_the_same_one_of_the_table(tmp_path):
    ours = saccade.train(CONFIG, reward=gain, out=tmp_path / "ours")
    theirs = saccade.train(CONFIG, {"reinforce.reward": "gain"}, out=tmp_path / "theirs")
    other = saccade.train(CONFIG, {"reinforce.reward": "correct"}, out=tmp_path / "other")
    weights = [run.agent().parameters for run in (ours, theirs, other)]
    for name in weights[0]:
        assert np.array_equal(weights[0][name], weights[1][name]), name
    assert any(not np.array_equal(weights[0][name], weights[2][name]) for name in weights[0])
    assert ours.config["reinforce"]["reward"] == "own"
    assert "reward=<function>" in (ours.path / "command.txt").read_text()


def near(probabilities, labels, facts):
    """For looks near the middle of the box."""
    middle = facts["boxes"][:, 0, :2] + facts["boxes"][:, 0, 2:] / 2
    there = facts["locations"] * 14 + 14
    return np.exp(-np.square(there - middle).sum(-1) / 50)


def test_any_number_of_threads_and_a_stop_give_the_same_bytes(tmp_path):
    calls = []

    def counted(*arguments):
        calls.append([np.shape(argument) for argument in arguments[:2]])
        return near(*arguments)

    one = saccade.train(CONFIG, reward=counted, threads=1, out=tmp_path / "one")
    # 16 updates of 4 lanes with 32 episodes.
    assert calls == [[(3, 32, 2), (32,)]] * 64
    two = saccade.train(CONFIG, reward=near, threads=2, out=tmp_path / "two")
    assert_same_results(two.path, one.path)
    stopped = saccade.train(CONFIG, reward=near, out=tmp_path / "more", callback=lambda row: True)
    again = saccade.train(CONFIG, reward=near, out=stopped.path, resume=True)
    assert_same_results(again.path, one.path)


def test_the_looks_follow_the_reward(tmp_path):
    longer = {
        "training.episodes": 40_000,
        "evaluation.every": 20_000,
        "log.every": 20_000,
        "training.learning_rate": 0.003,
        "evaluation.scenes": 200,
        "model.hidden_size": 32,
        "retina.scales": 3,
    }

    def corner(probabilities, labels, facts):
        return -np.square(facts["locations"] - np.float32(0.5)).sum(-1)

    run = saccade.train(CONFIG, {**longer, "reinforce.weight": 4.0}, reward=corner, out=tmp_path / "run")
    locations = run.agent().rollout(scenes=50).locations
    assert np.abs(locations[:, 1:] - 0.5).mean() < 0.2


def at(count, then):
    """From call `count` on, something else than 0."""
    calls = []

    def reward(probabilities, labels, facts):
        calls.append(0)
        rewards = np.zeros(probabilities.shape[:2])
        return then(rewards) if len(calls) > count else rewards

    return reward


def raising(rewards):
    raise LookupError("nothing there")


def nothing_known(rewards):
    rewards[2, 5] = np.nan
    return rewards


@pytest.mark.parametrize(
    ("then", "words"),
    [
        (nothing_known, "reward: contains a number that is not finite"),
        (lambda r: r[:2], "reward: shape (2, 32); allowed: (3, 32)"),
        (lambda r: r.T, "reward: shape (32, 3); allowed: (3, 32)"),
        (lambda r: "much", "reward: an array of <U4; allowed: numbers"),
        (lambda r: None, "reward: an array of object; allowed: numbers"),
        (raising, "LookupError: nothing there"),
    ],
)
def test_a_reward_that_fails_stops_the_training_saved(tmp_path, then, words):
    out = tmp_path / "run"
    with pytest.raises(RuntimeError) as raised:
        saccade.train(CONFIG, reward=at(22, then), threads=1, out=out)
    assert words in str(raised.value) and str(raised.value).startswith("reward: the training was saved")
    if then is raising:
        assert isinstance(raised.value.__cause__, LookupError)
    # The sixth update is not there; the five before it are.
    whole = saccade.train(CONFIG, reward=at(1000, then), out=tmp_path / "whole")
    again = saccade.train(CONFIG, reward=at(1000, then), out=out, resume=True)
    assert_same_results(again.path, whole.path)


@pytest.mark.parametrize(
    ("overrides", "reward", "words"),
    [
        (None, 3, "reward: 3; allowed: a function of (probabilities, labels, facts), or None"),
        ({"reinforce.reward": "gain"}, gain, "overrides: reinforce.reward is given together with reward"),
        ({"attention.glimpse.stop": "sampled"}, gain, "reinforce.reward: own, with attention.glimpse.stop: sampled"),
        ({"reinforce.reward": "own"}, None, "reinforce.reward: own: a program gives it, and none does here"),
    ],
)
def test_what_takes_no_reward_is_refused(tmp_path, overrides, reward, words):
    with pytest.raises(saccade.InputError) as error:
        saccade.train(CONFIG, overrides, reward=reward, out=tmp_path / "run")
    assert words in str(error.value)
    assert not (tmp_path / "run/config.yaml").exists()
