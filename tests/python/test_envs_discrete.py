"""Actions from a number of possible ones, states to go back to, and scenes that change."""

import copy
import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest
import saccade
from env_cases import FAMILIES, assert_same, make, make_vec, play
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

KINDS = ["discrete", "flat_discrete"]


@pytest.mark.parametrize("flat", [False, True], ids=["dict", "flat"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "Transcribe"])
def test_check_env_has_no_complaints(family, kind, flat):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(family, actions=kind, places=(3, 4), flat=flat))


@pytest.mark.parametrize("kind", KINDS)
def test_the_spaces_have_every_part(kind):
    sizes = {
        "Centered28": [12, 10],
        "Search": [12, 2],
        "Catch": [12, 3],
    }
    for family, parts in sizes.items():
        for more, added in (({}, []), ({"halt": True}, [2])):
            if family == "Catch" and more:
                continue
            space = make(family, actions=kind, places=(3, 4), **more).action_space
            nvec = [*parts, *added]
            assert space == (
                gym.spaces.MultiDiscrete(nvec)
                if kind == "discrete"
                else gym.spaces.Discrete(int(np.prod(nvec)))
            )
    zoomed = make(actions="discrete", places=(1, 2), zoom=(1, 3)).action_space
    assert zoomed == gym.spaces.MultiDiscrete([2, 3, 10])
    words = make("Transcribe", actions="discrete", places=(1, 2))
    assert words.action_space.nvec[0] == 2 and len(words.action_space.nvec) > 2


def continuous(action, sizes, rows, cols, zoom, halt):
    """The action in the spaces of a continuous environment, written out."""
    parts = list(action) if np.ndim(action) else list(np.unravel_index(int(action), sizes))
    row, col = divmod(int(parts[0]), cols)
    location = [(2 * col + 1) / cols - 1, (2 * row + 1) / rows - 1]
    if zoom:
        location.append(float(parts[1]) - 1)
    result = {"location": np.array(location, np.float32), "answer": np.int64(parts[1 + zoom])}
    if halt:
        result["halt"] = np.int64(parts[-1])
    return result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("zoom", "halt"), [(None, False), ((1, 3), True)])
def test_an_action_is_the_place_and_the_answer_that_it_counts(kind, zoom, halt):
    rows, cols = 3, 5
    ours = make(actions=kind, places=(rows, cols), zoom=zoom, halt=halt)
    plain = make(zoom=zoom, halt=halt)
    sizes = [rows * cols, *([3] if zoom else []), 10, *([2] if halt else [])]
    ours.action_space.seed(4)
    assert_same(ours.reset(seed=4), plain.reset(seed=4))
    for _ in range(60):
        action = ours.action_space.sample()
        done = ours.step(action)
        assert_same(done, plain.step(continuous(action, sizes, rows, cols, bool(zoom), halt)))
        if done[2]:
            assert_same(ours.reset(), plain.reset())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_native_matches_sync(kind, mode):
    more = {"actions": kind, "places": (4, 4), "halt": True}
    sync = make_vec(vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **more)
    native = make_vec(autoreset_mode=mode, **more)
    assert sync.action_space == native.action_space
    assert_same(play(native, 120), play(sync, 120))


def test_a_copy_of_a_discrete_environment_continues():
    env = make_vec(actions="discrete")
    env.reset(seed=1)
    twins = copy.deepcopy(env), pickle.loads(pickle.dumps(env))
    actions = env.action_space.sample()
    for twin in twins:
        assert_same(twin.step(actions), copy.deepcopy(env).step(actions))


@pytest.mark.parametrize(
    ("arguments", "action", "words"),
    [
        ({"actions": "discreet"}, None, "actions: 'discreet'; allowed: continuous, discrete"),
        ({"actions": "discrete", "places": 3}, None, "places: 3; allowed: (rows, cols)"),
        ({"actions": "discrete", "places": (0, 3)}, None, "places: 0; allowed: 1 to 256"),
        ({"actions": "flat_discrete", "places": (256, 256), "halt": True}, None, "allowed: up to 1000000"),
        ({"actions": "discrete"}, [49, 0], "action: [49, 0]; allowed: below [49, 10]"),
        ({"actions": "discrete"}, [0, -1], "action: -1 to 0; allowed: at least 0"),
        ({"actions": "discrete"}, [0, 0, 0], "action: shape (3,); allowed: (2)"),
        ({"actions": "discrete"}, [0.5, 0.0], "action: an array of float64; allowed: integers"),
        ({"actions": "flat_discrete"}, 490, "action: 490 to 490; allowed: 0 to 489"),
        ({"actions": "flat_discrete"}, [3], "action: shape (1,); allowed: ()"),
    ],
)
def test_what_is_no_action_is_refused(arguments, action, words):
    with pytest.raises(saccade.InputError) as error:
        env = make(**arguments)
        env.reset(seed=1)
        env.step(np.array(action))
    assert words in str(error.value)


# ---- States


@pytest.mark.parametrize("family", ["Centered28", "Catch", "Search"])
def test_a_state_is_gone_back_to_as_often_as_wanted(family):
    envs = make_vec(family, 4)
    envs.reset(seed=2)
    envs.step(envs.action_space.sample())
    state = pickle.loads(pickle.dumps(envs.clone_state()))
    actions = [envs.action_space.sample() for _ in range(30)]
    first = [envs.step(action) for action in actions]
    other = make_vec(family, 4)  # never reset
    for again in (envs, envs, other):
        again.restore_state(state)
        assert_same([again.step(action) for action in actions], first)


def test_a_state_of_an_ended_episode_needs_a_reset():
    env = make(num_glimpses=1)
    env.reset(seed=1)
    env.step(env.action_space.sample())
    state = env.clone_state()
    seen = env.reset()
    env.restore_state(state)
    assert_same(env.reset(), seen)


def test_the_state_of_another_environment_is_refused():
    state = make_vec("Centered28", 4).clone_state()
    for other in (make_vec("Centered28", 5), make_vec("Catch", 4), make_vec("Centered28", 4, halt=True)):
        with pytest.raises(saccade.InputError, match="state: of an environment with other arguments"):
            other.restore_state(state)
    with pytest.raises(saccade.InputError, match="state: int; allowed: what clone_state"):
        make().restore_state(3)


def test_the_state_of_an_environment_of_other_images_is_refused():
    images = np.random.default_rng(0).integers(0, 256, (6, 8, 8), dtype=np.uint8)
    names = ["a", "b", "c"]

    def made(images=images, labels=np.arange(6) % 3, class_names=names):
        sizes = {"canvas": [8, 8], "patch_size": 4, "distractor_size": 4}
        return saccade.envs.GlimpseEnv(
            "Centered28", images=images, labels=labels, class_names=class_names, **sizes
        )

    env = made()
    env.reset(seed=1)
    state = env.clone_state()
    for other in (made(255 - images), made(labels=np.arange(6) // 2), made(class_names=["a", "b", "d"])):
        with pytest.raises(saccade.InputError, match="state: of an environment with other arguments"):
            other.restore_state(state)
    same = made(images.copy())
    same.restore_state(state)
    action = env.action_space.sample()
    assert_same(same.step(action), env.step(action))


# ---- A curriculum


def test_episodes_have_other_scenes_from_a_reset_on():
    envs = make_vec("Cluttered60", 3, num_distractors=0)
    harder = make_vec("Cluttered60", 3, num_distractors=8)
    easy = envs.reset(seed=5)
    options = {"settings": {"num_distractors": 8}}
    assert_same(envs.reset(seed=5, options=dict(options)), harder.reset(seed=5))
    for _ in range(20):  # also the episodes that begin by themselves
        actions = envs.action_space.sample()
        assert_same(envs.step(actions), harder.step(actions))
    assert_same(envs.reset(seed=5, options={"settings": {"scene": {"num_distractors": 0}}}), easy)
    env = make("Cluttered60", num_distractors=0)
    seen = env.reset(seed=5, options=options)
    assert_same(seen, make("Cluttered60", num_distractors=8).reset(seed=5))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"settings": {"patch_size": 4}}, "glimpse_shape would be (1, 1, 4, 4), not (1, 1, 8, 8)"),
        ({"settings": 3}, "options 'settings': 3; allowed: a dictionary of settings"),
        ({"settings": {"canvas": [4, 4]}}, "scene.canvas"),
        ({"settings": {}, "reset_mask": np.ones(3, bool)}, "reset_mask with settings"),
    ],
)
def test_settings_that_do_not_fit_change_nothing(options, words):
    envs, twin = make_vec("Centered28", 3), make_vec("Centered28", 3)
    envs.reset(seed=1), twin.reset(seed=1)
    with pytest.raises(saccade.InputError) as error:
        envs.reset(seed=1, options=options)
    assert words in str(error.value)
    actions = envs.action_space.sample()
    assert_same(envs.step(actions), twin.step(actions))


@pytest.mark.parametrize("seed", [-1, 1.5, [1, 2], [0, None, -1]])
def test_a_refused_seed_changes_nothing(seed):
    """Nor do the settings that came with it."""
    options = {"settings": {"num_distractors": 8}}
    for create in (make, lambda family, **settings: make_vec(family, 3, **settings)):
        env, twin = (create("Cluttered60", num_distractors=0) for _ in range(2))
        env.reset(seed=1), twin.reset(seed=1)
        with pytest.raises(saccade.InputError, match="seed: "):
            env.reset(seed=seed, options=options)
        action = env.action_space.sample()
        assert_same(env.step(action), twin.step(action))
        assert_same(env.reset(), twin.reset())
        assert env.np_random.random() == twin.np_random.random()


def test_dqn_of_stable_baselines_learns_on_flat_discrete_actions():
    """Where a digit lies does not matter: it is in the middle. DQN must beat guessing one of 2."""
    stable_baselines3 = pytest.importorskip(
        "stable_baselines3", reason="needs stable-baselines3"
    )
    from saccade.sb3 import make_vec as make_sb3

    generator = np.random.default_rng(0)
    images = np.zeros((60, 28, 28), np.uint8)
    labels = np.arange(60) % 2
    images[labels == 1, 8:20, 8:20] = 250
    images += generator.integers(0, 5, images.shape, dtype=np.uint8)
    envs = make_sb3(
        "saccade/Centered28-v0",
        8,
        images=images,
        labels=labels,
        num_glimpses=1,
        first="center",
        actions="flat_discrete",
        places=(2, 2),
        threads=1,
    )
    model = stable_baselines3.DQN(
        "MlpPolicy",
        envs,
        learning_starts=200,
        exploration_fraction=0.5,
        learning_rate=2e-3,
        seed=1,
        policy_kwargs={"net_arch": [32]},
    )
    model.learn(4000)
    observations = envs.reset()
    rewards = []
    for _ in range(20):
        actions, _ = model.predict(observations, deterministic=True)
        observations, reward, _, _ = envs.step(actions)
        rewards.append(reward)
    assert np.mean(rewards) > 0.9
