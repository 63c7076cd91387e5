"""Copies of environments and agents, by pickle and deepcopy, behave like the originals."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
import saccade
from env_cases import FAMILIES, SMALL, assert_same, make, make_vec, settings_of
from gymnasium.vector import AutoresetMode

WAYS = {"deepcopy": copy.deepcopy, "pickle": lambda thing: pickle.loads(pickle.dumps(thing))}
MORE = {"Bag": {"min_digits": 2, "look_price": 0.25}, "Centered28": {"halt": True}}


@pytest.fixture(params=WAYS)
def copied(request):
    return WAYS[request.param]


def step_both(one, other, steps):
    """The same actions, from the copies' own generators; an ended episode is reset."""
    ends = 0
    for _ in range(steps):
        action = one.action_space.sample()
        assert_same(other.action_space.sample(), action)
        ours, theirs = one.step(action), other.step(action)
        assert_same(theirs, ours)
        ended = ours[2]
        ends += int(np.sum(ended))
        if isinstance(one.unwrapped, gym.vector.VectorEnv):
            if one.metadata["autoreset_mode"] is AutoresetMode.DISABLED and ended.any():
                options = {"reset_mask": ended}
                assert_same(other.reset(options=dict(options)), one.reset(options=dict(options)))
        elif ended:
            assert_same(other.reset(), one.reset())
    return ends


@pytest.mark.parametrize("flat", [False, True], ids=["dict", "flat"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_copy_continues_in_the_middle_of_an_episode(family, flat, copied):
    env = make(family, flat=flat, **MORE.get(family, {}))
    env.reset(seed=3)
    env.action_space.seed(3)
    for _ in range(2):
        result = env.step(env.action_space.sample())
        if result[2]:
            env.reset()
    twin = copied(env)
    assert step_both(env, twin, 60) > 0


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("family", ["Catch", "Bag", "Centered28"])
def test_a_copied_vector_environment_continues_after_any_step(family, mode, copied):
    """With episodes at different steps, and on several threads."""
    envs = make_vec(family, 40, autoreset_mode=mode, threads=2, **MORE.get(family, {}))
    envs.reset(seed=3)
    envs.action_space.seed(3)
    some = np.arange(40) % 3 == 0
    for step in range(5):
        envs.step(envs.action_space.sample())
        if step == 1 and family == "Catch":
            envs.reset(options={"reset_mask": some})
        if mode is AutoresetMode.DISABLED and family != "Catch":
            envs.reset(options={"reset_mask": some | True})
        twin = copied(envs)
        if step in (1, 4):
            step_both(envs, twin, 3)
    assert step_both(envs, copied(envs), 40) > 0


def test_the_copy_and_the_original_are_independent(copied):
    env, alone = make("Catch"), make("Catch")
    left = {"location": np.zeros(2, np.float32), "answer": 0}
    for each in (env, alone):
        each.reset(seed=0)
    twin = copied(env)
    for _ in range(5):
        env.step(left)
    assert_same(twin.step(left), alone.step(left))


def test_copies_of_environments_before_reset_and_after_close(copied):
    env = make()
    twin = copied(env)
    with pytest.raises(gym.error.ResetNeeded):
        twin.step(twin.action_space.sample())
    assert_same(twin.reset(seed=4), env.reset(seed=4))
    env.close()
    with pytest.raises(gym.error.ClosedEnvironmentError):
        copied(env).reset()


def test_wrappers_and_pictures(copied):
    """The result of gymnasium.make, which learners copy."""
    env = gym.make("saccade/Translated60-v0", render_mode="rgb_array", **SMALL)
    env.reset(seed=1)
    env.step(env.action_space.sample())
    twin = copied(env)
    assert (twin.render() == env.render()).all()
    step_both(env, twin, 6)


def test_own_images_and_their_class_names(copied):
    images = np.random.default_rng(0).integers(0, 256, (6, 8, 8), dtype=np.uint8)
    env = saccade.envs.GlimpseEnv(
        "Centered28",
        images=images,
        labels=np.arange(6) % 3,
        class_names=["a", "b", "c"],
        canvas=[8, 8],
        patch_size=4,
        distractor_size=4,
    )
    env.reset(seed=0)
    env.action_space.seed(0)
    twin = copied(env)
    assert twin.class_names == ["a", "b", "c"]
    step_both(env, twin, 20)


@pytest.mark.parametrize("place", [{"steps": 9}, {"seed": -1}, {"size": 3}])
def test_an_invalid_state_is_refused(place):
    envs = make_vec("Translated60", 2, **SMALL)
    envs.reset(seed=0)
    _, (running, counters, *rest) = envs._worlds.native.state()
    counters = counters.copy()
    if "size" in place:
        counters = counters[:3]
    else:
        counters[2 if "steps" in place else 0] = next(iter(place.values()))
    with pytest.raises(saccade.InputError, match="the state is not of such environments"):
        envs._worlds.native.restore(running, counters, *rest)
    twin = make_vec("Translated60", 2, **SMALL)
    twin.reset(seed=0)
    action = envs.action_space.sample()
    assert_same(envs.step(action), twin.step(action))


def test_stable_baselines_environments(copied):
    """Its own wrappers, such as VecMonitor, cannot be copied."""
    pytest.importorskip("stable_baselines3")
    import saccade.sb3

    envs = saccade.sb3.GlimpseVecEnv(3, "Catch", **settings_of("Catch"))
    envs.seed(1)
    envs.reset()
    action = np.stack([envs.action_space.sample() for _ in range(3)])
    envs.step(action)
    twin = copied(envs)
    for one, other in zip(envs.step(action)[:3], twin.step(action)[:3]):
        assert_same(one, other)
