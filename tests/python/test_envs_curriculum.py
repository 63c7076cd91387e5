"""Settings that change while environments play: Gymnasium's set_attr, get_attr and call."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
import saccade
from env_cases import assert_same, make, make_vec
from gymnasium.vector import AutoresetMode

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]


@pytest.mark.parametrize("mode", MODES)
def test_episodes_that_begin_later_have_the_setting(mode):
    """Some environments halt early, so that episodes of both kinds run side by side."""
    make_one = {"autoreset_mode": mode, "halt": True, "num_glimpses": 4}
    envs = make_vec("Cluttered60", 40, num_distractors=0, **make_one)
    easy = make_vec("Cluttered60", 40, num_distractors=0, **make_one)
    hard = make_vec("Cluttered60", 40, num_distractors=8, **make_one)
    for each in (envs, easy, hard):
        each.reset(seed=3)
    begun = np.zeros(40, bool)  # since the change
    pending = np.zeros(40, bool)
    envs.action_space.seed(1)
    for step in range(12):
        if step == 2:
            envs.set_attr("num_distractors", 8)
            assert envs.get_attr("num_distractors") == (8,) * 40
        actions = envs.action_space.sample()
        actions["halt"] = actions["halt"] * (np.arange(40) % 3 == 0)
        seen, rewards, ended, _, info = envs.step(actions)
        shown = [each.step(actions) for each in (easy, hard)]
        if step >= 2:
            begun |= pending if mode is AutoresetMode.NEXT_STEP else ended
        pending = ended
        for i in range(40):
            wanted = shown[int(begun[i])][0]
            assert_same(
                {name: values[i] for name, values in seen.items()},
                {name: values[i] for name, values in wanted.items()},
            )
        if step == 2:
            assert begun.any() and not begun.all()
            wanted = np.where(begun[:, None, None, None], hard.canvases(), easy.canvases())
            np.testing.assert_array_equal(envs.canvases(), wanted)
    assert begun.all() and len(envs._worlds.native.settings) == 1


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
@pytest.mark.parametrize("family", ["Cluttered60", "Catch", "Search"])
def test_copies_in_between_continue_alike(family, copied):
    name, values = {
        "Cluttered60": ("num_distractors", (0, 7, 2)),
        "Catch": ("pooling", ("mean", "max", "mean")),
        "Search": ("scale_factor", (2, 3, 2)),
    }[family]
    halts = {} if family == "Catch" else {"halt": True}
    envs = make_vec(family, 35, **{name: values[0]}, **halts)
    envs.reset(seed=3)
    envs.action_space.seed(1)
    for value in values[1:]:
        for _ in range(3):
            envs.step(envs.action_space.sample())
        envs.set_attr(name, value)
    envs.step(envs.action_space.sample())
    twin = copied(envs)
    state = envs.clone_state()
    actions = [envs.action_space.sample() for _ in range(12)]
    played = [envs.step(action) for action in actions]
    assert_same(played, [twin.step(action) for action in actions])
    other = make_vec(family, 35, **{name: values[-1]}, **halts)
    with pytest.raises(saccade.InputError, match="of an environment with other arguments"):
        other.restore_state(state)  # of episodes with several settings
    beside = copied(twin)
    assert_same(twin.reset(seed=1), beside.reset(seed=1))


def test_the_same_as_gymnasiums_vector_environments():
    envs = make_vec("Cluttered60", 3, num_distractors=0)
    theirs = gym.vector.SyncVectorEnv([lambda: make("Cluttered60", num_distractors=0)] * 3)
    assert_same(envs.reset(seed=5), theirs.reset(seed=5))
    for step in range(20):
        if step in (3, 11):
            for each in (envs, theirs):
                each.set_attr("num_distractors", step)
                assert each.get_attr("num_distractors") == (step,) * 3
                assert each.call("scene.num_distractors") == (step,) * 3
        actions = envs.action_space.sample()
        assert_same(envs.step(actions), theirs.step(actions))


def test_results_do_not_depend_on_the_threads():
    one, two = (make_vec("Cluttered60", 70, threads=threads, halt=True) for threads in (1, 2))
    one.action_space.seed(4)
    one.reset(seed=1), two.reset(seed=1)
    for step in range(12):
        if step == 4:
            one.set_attr("num_distractors", 9), two.set_attr("num_distractors", [9] * 70)
        actions = one.action_space.sample()
        assert_same(one.step(actions), two.step(actions))


def test_before_the_first_reset_and_after():
    envs = make_vec("Cluttered60", 3, num_distractors=0)
    envs.set_attr("num_distractors", 8)
    hard = make_vec("Cluttered60", 3, num_distractors=8)
    assert_same(envs.reset(seed=2), hard.reset(seed=2))
    env = make("Cluttered60", num_distractors=0)
    env.set_wrapper_attr("num_distractors", 8)
    assert env.get_wrapper_attr("num_distractors") == 8 and env.has_wrapper_attr("border")
    assert_same(env.reset(seed=2), make("Cluttered60", num_distractors=8).reset(seed=2))
    env.set_wrapper_attr("note", 3)  # any other attribute
    assert env.note == 3 and env.get_wrapper_attr("note") == 3
    assert not env.has_wrapper_attr("nothing")


def test_pictures_and_attributes_of_all():
    envs = make_vec("Cluttered60", 2, num_glimpses=2, render_mode="rgb_array")
    envs.reset(seed=0)
    envs.render()
    envs.set_attr("num_distractors", 0)
    envs.step(envs.action_space.sample())
    assert len(envs.call("render")) == 2
    assert envs.get_attr("num_glimpses") == (2, 2) and envs.call("render_mode") == ("rgb_array",) * 2


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("num_distractor", 3, "set_attr('num_distractor', 3): unknown setting; allowed: settings of the scenes; nearest: scene.num_distractors"),
        ("num_distractors", -1, "set_attr('num_distractors', -1): override 'scene.num_distractors=-1': scene.num_distractors: '-1' is out of range"),
        ("num_distractors", "many", "scene.num_distractors"),
        ("num_distractors", [1, 2, 3], "set_attr('num_distractors', [1, 2, 3]): allowed: one value, or 3 equal ones"),
        ("num_distractors", [1, 1], "allowed: one value, or 3 equal ones"),
        ("patch_size", 4, "set_attr('patch_size', 4): glimpse_shape would be (1, 1, 4, 4), not (1, 1, 8, 8); allowed"),
        ("num_glimpses", 4, "unknown setting"),
    ],
)
def test_what_cannot_be_changed_changes_nothing(name, value, words):
    envs, twin = make_vec("Centered28", 3), make_vec("Centered28", 3)
    envs.reset(seed=1), twin.reset(seed=1)
    with pytest.raises(saccade.InputError) as error:
        envs.set_attr(name, value)
    assert words in str(error.value)
    for _ in range(8):
        actions = envs.action_space.sample()
        assert_same(envs.step(actions), twin.step(actions))


def test_methods_of_all_are_not_those_of_one():
    with pytest.raises(saccade.InputError, match=r"call\('reset'\): not a method of a single"):
        make_vec("Centered28", 3).call("reset")
    with pytest.raises(AttributeError):
        make_vec("Centered28", 3).get_attr("nothing")


def test_more_digits_and_another_canvas_need_a_reset():
    envs = make_vec("Bag", 3, num_digits=2, min_digits=1)
    envs.reset(seed=1)
    with pytest.raises(saccade.InputError, match="num_boxes would be 3, not 2"):
        envs.set_attr("num_digits", 3)
    envs = make_vec("Translated60", 3)
    envs.reset(seed=1)
    with pytest.raises(saccade.InputError, match=r"canvas_size would be \(40, 40\), not \(60, 60\)"):
        envs.set_attr("canvas", [[40, 40]] * 3)
    envs.reset(options={"settings": {"canvas": [40, 40]}})
    assert envs.get_attr("canvas") == ([40, 40],) * 3


def test_stable_baselines_sets_them_for_all():
    pytest.importorskip("stable_baselines3", reason="needs stable-baselines3")
    from saccade.sb3 import make_vec as make_sb3

    envs = make_sb3("saccade/Cluttered60-v0", 3, data="synthetic")
    envs.set_attr("num_distractors", 2)
    assert envs.get_attr("num_distractors") == [2] * 3
    with pytest.raises(saccade.InputError, match="indices 1; allowed: None"):
        envs.set_attr("num_distractors", 3, indices=1)


def test_a_reset_with_settings_goes_on_with_the_seeds():
    envs, twin = (make_vec("Cluttered60", 3) for _ in range(2))
    for each in (envs, twin):
        each.reset(seed=[7, 8, 9])
    envs.reset(options={"settings": {"num_distractors": 0}})
    twin.set_attr("num_distractors", 0)
    twin.reset()
    np.testing.assert_array_equal(envs.canvases(), twin.canvases())
    assert not np.array_equal(envs.canvases()[0], envs.canvases()[1])


def test_spaces_by_name_are_those_of_one():
    envs = make_vec("Cluttered60", 3)
    for name in ("observation_space", "action_space"):
        assert envs.get_attr(name) == (getattr(envs, f"single_{name}"),) * 3
    with pytest.raises(saccade.InputError, match="takes no arguments"):
        envs.call("num_distractors", 7)


def test_stable_baselines_resets_with_settings():
    pytest.importorskip("stable_baselines3")
    import saccade.sb3

    envs = saccade.sb3.make_vec("saccade/Cluttered60-v0", 2, data="synthetic")
    envs.set_options({"settings": {"num_distractors": 0}})
    envs.reset()
    assert envs.get_attr("num_distractors") == [0, 0]
    envs.set_options([{"settings": {"num_distractors": n}} for n in range(2)])
    with pytest.raises(saccade.InputError, match="^set_options"):
        envs.reset()
