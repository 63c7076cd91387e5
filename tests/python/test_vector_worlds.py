"""Training in Gymnasium's vector environments, and what they are refused for."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import saccade
from gymnasium.vector import AutoresetMode
from saccade.worlds import from_vector_env
from training_support import SMALL, assert_same_results

CONFIG = {**SMALL, "name": "vector", "attention.glimpse.num_glimpses": 4, "training.episodes": 512}
FAMILY = {"data": "synthetic", "kind": "translated", "canvas": [32, 32], "patch_size": 8, "scales": 2}


def make_ours(count, family="Translated60", **more):
    settings = FAMILY if family == "Translated60" else {}
    return saccade.envs.GlimpseVectorEnv(count, family, num_glimpses=4, **settings, **more)


def make_catch(count):
    return saccade.envs.GlimpseVectorEnv(count, "Catch")


class Beacon(gym.Env):
    """A minimal environment with our spaces: the brighter, the nearer to a beacon, whose sign is the class."""

    action_space = gym.spaces.Dict(
        {"location": gym.spaces.Box(-1, 1, (2,)), "answer": gym.spaces.Discrete(2)}
    )
    observation_space = gym.spaces.Dict(
        {"glimpse": gym.spaces.Box(-9, 9, (1, 3)), "location": gym.spaces.Box(-1, 1, (2,))}
    )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.beacon = self.np_random.uniform(-0.8, 0.8, 2)
        self.label, self.steps = int(self.np_random.integers(2)), 0
        return self._seen(np.zeros(2)), {"label": self.label}

    def step(self, action):
        self.steps += 1
        return self._seen(action["location"]), 0.0, self.steps == 4, False, {"label": self.label}

    def _seen(self, place):
        away = self.beacon - place
        sign = (2 * self.label - 1) * (np.linalg.norm(away) < 0.4)
        return {"glimpse": np.array([[*away, sign]], np.float32), "location": place.astype(np.float32)}


def make_beacons(count):
    return gym.vector.SyncVectorEnv([Beacon] * count)


def test_our_environments_show_their_training_scenes(tmp_path):
    world = from_vector_env(make_ours)(3)
    labels = world.reset(np.array([5, 6, 7]))
    seen = world.look(np.full((3, 2), 0.9, np.float32))
    envs = make_ours(3)
    first, info = envs.reset(seed=[5, 6, 7])
    np.testing.assert_array_equal(labels, info["label"])
    np.testing.assert_array_equal(seen["glimpses"], first["glimpse"])
    np.testing.assert_array_equal(seen["locations"], first["location"])  # not where it was asked to look
    assert world.class_names == [str(k) for k in range(10)]
    places = np.array([[0.1, -0.2], [1, 1], [-1, 0]], np.float32)
    seen = world.look(places)
    np.testing.assert_array_equal(seen["locations"], places)
    second = envs.step({"location": places, "answer": np.zeros(3, np.int64)})[0]
    np.testing.assert_array_equal(seen["glimpses"], second["glimpse"])


@pytest.mark.parametrize("make", [make_ours, make_beacons])
def test_runs_are_the_same_with_any_number_of_threads_and_after_a_stop(tmp_path, make):
    world = from_vector_env(make)
    one = saccade.train(CONFIG, world=world, threads=1, out=tmp_path / "one")
    stopped = saccade.train(
        CONFIG, world=world, threads=2, out=tmp_path / "two", callback=lambda row: row["episodes"] < 512
    )
    two = saccade.train(CONFIG, world=world, threads=2, out=stopped.path, resume=True)
    assert_same_results(one.path, two.path)


def test_reinforce_learns_in_somebody_elses_environment(tmp_path):
    more = {"training.episodes": 12_800, "evaluation.every": 12_800, "training.learning_rate": 0.005}
    more |= {"attention.glimpse.std": 0.3, "seed": 1, "evaluation.scenes": 300}
    learned = saccade.train(CONFIG, more, world=from_vector_env(make_beacons), out=tmp_path / "run").summary
    assert learned["test/error_center"] > 0.3
    assert learned["test/error_sampled"] < 0.25


def test_an_agent_plays_in_ap_gyms_own_circle_square(tmp_path):
    pytest.importorskip("ap_gym", reason="needs ap-gym")
    pytest.importorskip("PIL", reason="needs Pillow")
    from ap_gym.envs.image import CircleSquareDataset, ImagePerceptionConfig
    from ap_gym.envs.image_classification import ImageClassificationVectorEnv

    def make(count):
        return ImageClassificationVectorEnv(
            count, ImagePerceptionConfig(CircleSquareDataset(), prefetch=False)
        )

    world = from_vector_env(make, max_step=0.2)
    played = world(3)
    assert played.reset(np.arange(3)) is None  # the class comes with the first step
    start = played.look(np.ones((3, 2), np.float32))["locations"]
    seen = played.look(np.ones((3, 2), np.float32))
    assert sorted(set(seen["labels"].tolist()) | {0, 1}) == [0, 1]
    moved = np.linalg.norm(seen["locations"] - start, axis=1)
    near = np.linalg.norm(1 - start, axis=1)
    np.testing.assert_allclose(moved, np.minimum(0.2, near), atol=1e-5)

    short = {"training.episodes": 256, "training.batch_size": 32, "training.lane_size": 32}
    more = {**CONFIG, **short, "data.mean": 0.8, "data.deviation": 0.12, "evaluation.scenes": 100}
    relative = {"attention.glimpse.moves": "relative", "attention.glimpse.max_step": 0.2}
    run = saccade.train(more, relative, world=world, out=tmp_path / "run")
    assert run.config["scene"]["glimpse_size"] == 25


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda count: Beacon(), "make(2) returned Beacon; allowed: a VectorEnv of 2"),
        (lambda count: make_beacons(3), "make(2) returned 3 environments; allowed: a VectorEnv of 2"),
        (lambda count: gym.make_vec("CartPole-v1", count), "the action space: MultiDiscrete([2 2]); allowed: a Dict"),
        (lambda count: make_catch(count), "without label; allowed: environments that ask for a class"),
        (lambda count: make_ours(count, autoreset_mode=AutoresetMode.SAME_STEP), "autoreset_mode: SAME_STEP"),
    ],
)
def test_environments_that_cannot_be_trained_in_are_named(tmp_path, make, words):
    with pytest.raises(saccade.InputError) as error:
        saccade.train(CONFIG, world=from_vector_env(make), out=tmp_path / "run")
    assert words in str(error.value)


def test_an_episode_that_ends_too_early_says_how_many_looks_it_has(tmp_path):
    more = {"attention.glimpse.num_glimpses": 6}
    with pytest.raises(RuntimeError, match="an episode ended after 5 looks; allowed: .*num_glimpses: 1 to 5"):
        saccade.train(CONFIG, more, world=from_vector_env(make_beacons), out=tmp_path / "run")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((make_beacons(2),), "make: SyncVectorEnv; allowed: a function of num_envs that makes a VectorEnv"),
        ((make_beacons, 0.0), "max_step: 0.0; allowed: more than 0, up to 2, or None"),
        ((make_beacons, "far"), "max_step"),
    ],
)
def test_arguments_that_make_no_world_are_named(arguments, words):
    with pytest.raises(saccade.InputError) as error:
        from_vector_env(arguments[0], max_step=arguments[1] if arguments[1:] else None)
    assert words in str(error.value)
