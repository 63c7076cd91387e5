"""Invalid arguments and actions are refused by name, and the state is unchanged."""

import logging
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
import saccade
from env_cases import SMALL, assert_same, make, make_vec, play
from saccade import InputError, _arrays
from saccade.envs.settings import _key_of

IMAGES = np.zeros((4, 8, 8), np.uint8)
LABELS = np.arange(4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scene": {"canvs": [9, 9]}}, "unknown key 'scene.canvs'; did you mean 'scene.canvas'?"),
        ({"scene": 3}, "scene: 3; allowed: a dictionary of settings"),
        ({"patch_size": 8, "retina": {"patch_size": 8}}, "retina.patch_size: given twice"),
        ({"patch_size": object()}, "retina.patch_size: <object object at"),
        ({"patch_size": "wide"}, "retina.patch_size: 'wide' is not an integer"),
        ({"patch_size": 100}, "retina.patch_size: 100"),
        ({"canvas": [6]}, "scene.canvas: a list is not a list of two"),
        ({"data": "mnits"}, "data.source: 'mnits' is unknown (did you mean 'mnist'?); allowed: mnist, "),
        ({"kind": "digits_to_words"}, "scene.kind: digits_to_words"),
        ({"family": "Centred28"}, "family: 'Centred28'; allowed: Centered28, "),
        ({"split": "all"}, "split: 'all'; allowed: train, valid, test"),
        ({"num_glimpses": 0}, "num_glimpses: 0; allowed: 1 to 256"),
        ({"num_glimpses": 2.5}, "num_glimpses: 2.5; allowed: an integer"),
        ({"first": "corner"}, "first: 'corner'; allowed: random, center"),
        ({"halt": 1}, "halt: 1; allowed: True, False"),
        ({"look_price": float("nan")}, "look_price: nan; allowed: a finite number"),
        ({"look_price": "dear"}, "look_price: 'dear'; allowed: a number"),
        ({"zoom": 3}, "zoom: 3; allowed: None, or two numbers, the closest and the widest"),
        ({"zoom": (1, "4")}, "zoom: '4'; allowed: a number"),
        ({"zoom": (0.5, 2)}, "attention.glimpse.zoom: '0.5' is out of range; allowed: a number >= 1"),
        ({"zoom": (3, 2)}, "attention.glimpse.zoom: from 3 to 2 goes down"),
        ({"zoom": (2, 2)}, "attention.glimpse.zoom: 2 is the same at every look"),
        ({"zoom": (1, 90)}, "attention.glimpse.zoom: a retina.patch_size of"),
        ({"flat": None}, "flat: None; allowed: True, False"),
        ({"render_mode": "human"}, "render_mode: 'human'; allowed: rgb_array"),
        ({"num_envs": 0}, "num_envs: 0; allowed: 1 to 1000000"),
        ({"num_envs": True}, "num_envs: True; allowed: an integer"),
        ({"threads": -1}, "threads: -1; allowed: 0 to 1024"),
        ({"autoreset_mode": "never"}, "autoreset_mode: 'never'; allowed: NextStep, SameStep"),
        ({"labels": LABELS}, "labels: given without images"),
        ({"images": IMAGES}, "images: given without labels"),
        ({"images": IMAGES, "labels": LABELS}, "data.source=synthetic: given together with images"),
        ({"places": (3, 3)}, "places: (3, 3), but actions: 'continuous'; allowed: with discrete actions"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(InputError, match="^") as caught:
        saccade.envs.GlimpseVectorEnv(**{"data": "synthetic", **arguments})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("called", "name", "nearest"),
    [
        (saccade.envs.GlimpseVectorEnv, "canvs", "scene.canvas"),
        (saccade.envs.GlimpseVectorEnv, "num_glimpse", "num_glimpses"),
        (saccade.envs.GlimpseVectorEnv, "thread", "threads"),
        (saccade.envs.GlimpseEnv, "num_glimpse", "num_glimpses"),
    ],
)
def test_unknown_arguments_are_type_errors(called, name, nearest):
    with pytest.raises(TypeError) as caught:
        called(data="synthetic", **{name: 3})
    assert str(caught.value) == (
        f"{called.__name__}() got an unexpected keyword argument '{name}'. "
        f"Did you mean '{nearest}'?"
    )


def test_the_single_environment_does_not_suggest_vector_arguments():
    with pytest.raises(TypeError, match="unexpected keyword argument 'num_envs'") as caught:
        saccade.envs.GlimpseEnv(num_envs=3)
    assert "mean 'num_envs'" not in str(caught.value)


def test_torchrl_can_try_frameskip():
    """Its GymEnv passes frameskip first, and only this error makes it try without."""
    for call in (lambda: make(frameskip=1), lambda: make_vec(frameskip=1)):
        with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip"):
            call()


def test_halt_is_refused_for_actions():
    with pytest.raises(InputError, match="halt: true, but every action counts here"):
        make("Catch", halt=True)


def test_ambiguous_setting_names_are_refused():
    known = ["scene", "retina", "scene.side", "retina.side"]
    with pytest.raises(InputError, match="'side' is ambiguous; allowed: scene.side, retina.side"):
        _key_of("side", known, (), "make")
    assert _key_of("scene.side", known, (), "make") == "scene.side"


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        (IMAGES.astype(int), LABELS, "images: an array of int64; allowed: uint8"),
        (IMAGES.astype(str), LABELS, "images: an array of <U3; allowed: uint8"),
        ([[1, 2], [3]], LABELS, "images: not an array"),
        (IMAGES[0], LABELS, r"images: shape \(8, 8\); allowed: \(N, rows, cols\)"),
        (IMAGES[:0], LABELS[:0], r"images: shape \(0, 8, 8, 1\); .* N at least 1"),
        (IMAGES + 1.5, LABELS, "images: 1.5 to 1.5; allowed: 0.0 to 1.0"),
        (IMAGES + np.nan, LABELS, "images: contains a number that is not finite"),
        (np.zeros((4, 8, 8, 2), np.uint8), LABELS, "images: .* with 1 or 3 channels"),
        (IMAGES, LABELS[:3], r"labels: shape \(3,\); allowed: \(4\)"),
        (IMAGES, LABELS + 0.5, "labels: an array of float64; allowed: integers"),
        (IMAGES, LABELS - 1, "labels: -1 to 2; allowed: 0 to 999999"),
        (IMAGES, np.array([0, 1, 2, 2**63], np.uint64), "labels: 0 to 9223372036854775808"),
        (IMAGES, np.array(list("abcd"), bytes), "labels: an array of .S1; allowed: integers"),
    ],
)
def test_images_and_labels(images, labels, message):
    with pytest.raises(InputError, match=message):
        saccade.envs.GlimpseEnv("Centered28", images=images, labels=labels)


def test_images_are_refused_where_nothing_uses_them():
    with pytest.raises(InputError, match="images: given, but scene.kind: catch"):
        saccade.envs.GlimpseEnv("Catch", images=IMAGES, labels=LABELS)


@pytest.mark.parametrize(
    "more", [{"data": {"source": "mnist"}}, {"data.source": "mnist"}, {"path": "/nowhere"}]
)
def test_images_take_the_place_of_data(more):
    images = {"images": IMAGES, "labels": LABELS}
    with pytest.raises(InputError, match="^data.* given together with images"):
        make_vec(**{**SMALL, "data": {}, **images, **more})
    envs = make_vec(**{**SMALL, "data": {}, **images})
    with pytest.raises(InputError, match="data.* given together with images"):
        envs.reset(seed=1, options={"settings": more})


def test_settings_without_effect_are_told():
    with pytest.warns(UserWarning, match="^scene.num_distractors has no effect while scene.kind"):
        envs = make_vec("Catch", 2, num_distractors=5)
    with pytest.warns(UserWarning, match="^scene.num_distractors has no effect while scene.kind"):
        envs.reset(seed=1, options={"settings": {"num_distractors": 3}})


def test_copies_of_images_are_logged_once(caplog):
    _arrays._log_once.cache_clear()
    with caplog.at_level(logging.INFO, logger="saccade"):
        _arrays.as_images("images", IMAGES)
        assert not caplog.records
        for _ in range(2):
            _arrays.as_images("images", IMAGES / 255.0)
            _arrays.as_images("images", IMAGES[:, ::2])
    assert len(caplog.records) == 2


@pytest.mark.parametrize("beyond", [np.float32(1.0000001), 1.0 + 9e-6])
def test_actions_outside_their_box_by_rounding_are_clipped(beyond):
    for flat in (False, True):
        envs, twin = (make_vec("Translated60", 2, **SMALL, flat=flat) for _ in range(2))
        given, meant = np.zeros((2, 2, 12 if flat else 2))
        given[1, :2], meant[1, :2] = [beyond, -beyond], [1, -1]
        answers = np.zeros(2, int)
        for each in (envs, twin):
            each.reset(seed=0)
        one, other = (
            each.step(array if flat else {"location": array, "answer": answers})
            for each, array in ((envs, given), (twin, meant))
        )
        assert_same(one, other)
        assert given[1, 0] == beyond  # the caller's array is unchanged
        given[1, 0] = 1.0001
        with pytest.raises(InputError, match="1.0001.*; allowed: -1 to 1"):
            envs.step(given if flat else {"location": given, "answer": answers})


def test_rescaled_actions_are_accepted():
    """RescaleAction gives -1.0000001 for the low end of this box."""
    env = gym.wrappers.RescaleAction(make(flat=True), np.float32(1.9), np.float32(4.9))
    env.reset(seed=0)
    low = env.action_space.low
    assert env.action(low).min() < -1
    env.step(low)


def test_arrays_without_axes():
    assert _arrays.as_array("one", 3, np.int64, ()).shape == ()


GOOD = {
    "location": np.zeros((3, 2), np.float32),
    "answer": np.zeros(3, int),
    "halt": np.zeros(3, int),
}


def but(name, value):
    return {**GOOD, name: value}


def changed(array, value):
    array = array.copy()
    array[1] = value
    return array


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (None, "action: NoneType; allowed: a dictionary of answer, halt, location"),
        ({"location": GOOD["location"]}, r"action: \['location'\]; allowed: a dictionary"),
        (but("look", 1), "action: .*'look'.*; allowed: a dictionary of answer, halt, location"),
        (but("location", np.zeros((3, 3))), r"'location': shape \(3, 3\); allowed: \(3, 2\)"),
        (but("location", np.zeros((3, 2), "U3")), "'location': an array of <U3; allowed: numbers"),
        (but("location", np.zeros((3, 2), bool)), "'location': an array of bool; allowed: numbers"),
        (but("location", changed(GOOD["location"], np.nan)), "'location': .* that is not finite"),
        (but("location", changed(GOOD["location"], np.inf)), "'location': .* that is not finite"),
        (but("location", changed(GOOD["location"], 1.01)), "environment 1: 1.01; allowed: -1 to 1"),
        (but("answer", np.zeros(3)), "'answer': an array of float64; allowed: integers"),
        (but("answer", np.zeros((3, 1), int)), r"'answer': shape \(3, 1\); allowed: \(3\)"),
        (but("answer", np.array([0, None, 1])), "'answer': an array of object; allowed: integers"),
        (but("answer", changed(GOOD["answer"], 10)), "environment 1: 10; allowed: 0 to 9"),
        (but("answer", changed(GOOD["answer"], -1)), "environment 1: -1; allowed: 0 to 9"),
        (but("halt", changed(GOOD["halt"], 2)), "'halt': .* allowed: 0, 1"),
    ],
)
def test_actions(action, message):
    envs, twin = (make_vec("Translated60", 3, **SMALL, halt=True) for _ in range(2))
    for each in (envs, twin):
        each.reset(seed=2)
        each.step(GOOD)
    with pytest.raises(InputError, match=message):
        envs.step(action)
    for _ in range(5):
        assert_same(envs.step(GOOD), twin.step(GOOD))


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.zeros(12), r"action: shape \(12,\); allowed: \(13\)"),
        (np.full(13, 1.5), "action: 1.5 to 1.5; allowed: -1 to 1"),
        (np.full(13, np.nan), "action: contains a number that is not finite"),
        ({"location": 1}, "action: an array of object; allowed: numbers"),
    ],
)
def test_flat_actions(action, message):
    env = make(flat=True, halt=True)
    env.reset(seed=0)
    with pytest.raises(InputError, match=message):
        env.step(action)


def test_copied_actions_keep_their_values():
    envs, twin = (make_vec("Translated60", 3, **SMALL) for _ in range(2))
    locations = np.random.default_rng(0).uniform(-1, 1, (2, 3))
    answers = np.array([1, 2, 3], np.int8)
    contiguous = np.ascontiguousarray(locations.T, np.float32)
    for each in (envs, twin):
        each.reset(seed=0)
    assert_same(
        envs.step({"location": locations.T, "answer": answers}),
        twin.step({"location": contiguous, "answer": answers.astype(np.int64)}),
    )


def test_a_step_after_the_end():
    env = make(num_glimpses=1)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    with pytest.raises(InputError, match="after the end of the episode of environment 0; reset"):
        env.step(env.action_space.sample())
    envs = make_vec("Bag", 3, min_digits=2, autoreset_mode="Disabled")
    envs.reset(seed=5)
    with pytest.raises(InputError, match="after the end of the episode of environment"):
        for _ in range(9):
            envs.step(envs.action_space.sample())


def test_a_step_before_the_first_reset():
    for envs in (make(), make_vec()):
        with pytest.raises(gym.error.ResetNeeded):
            envs.step(envs.action_space.sample())
    with pytest.raises(gym.error.ResetNeeded):
        make(render_mode="rgb_array").render()


def test_a_closed_environment():
    for envs in (make(render_mode="rgb_array"), make_vec(render_mode="rgb_array")):
        envs.reset(seed=0)
        envs.close()
        envs.close()
        for call in (envs.reset, envs.render, lambda: envs.step(envs.action_space.sample())):
            with pytest.raises(gym.error.ClosedEnvironmentError):
                call()


@pytest.mark.parametrize("seed", [-1, 1.5, "one", 2**63, [1, 2], [0, 1, -1], [0, 1, 2.5]])
def test_seeds(seed):
    envs = make_vec("Translated60", 3, **SMALL)
    played = play(envs, 2)
    with pytest.raises(InputError, match="seed: "):
        envs.reset(seed=seed)
    twin = make_vec("Translated60", 3, **SMALL)
    assert_same(play(twin, 2), played)
    assert_same(envs.reset(), twin.reset())


@pytest.mark.parametrize(
    "mask",
    [None, [True, False, True], np.array([1, 0, 1]), np.ones(2, bool), np.zeros(3, bool)],
)
def test_masks(mask):
    envs = make_vec("Translated60", 3, **SMALL)
    envs.reset(seed=0)
    with pytest.raises(InputError, match="reset_mask: "):
        envs.reset(options={"reset_mask": mask})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"typo": 1}, "options: unknown key 'typo'; allowed: "),
        ({"reset_masks": np.ones(3, bool)}, "options: unknown key 'reset_masks'; allowed: "),
        ("mask", "options: 'mask'; allowed: None, or a dictionary of: "),
    ],
)
def test_options(options, message):
    for envs, allowed in (
        (make("Catch"), "settings"),
        (make_vec("Catch", 3), "reset_mask, settings"),
    ):
        with pytest.raises(InputError) as caught:
            envs.reset(seed=1, options=options)
        assert str(caught.value) == message + allowed
        envs.reset(seed=1, options={})


def test_a_partial_reset_before_the_first_reset():
    envs = make_vec("Translated60", 3, **SMALL)
    some = np.array([True, False, True])
    with pytest.raises(InputError, match="environment 1 is left out and was never reset"):
        envs.reset(seed=1, options={"reset_mask": some})
    twin = make_vec("Translated60", 3, **SMALL)
    assert_same(play(envs, 3), play(twin, 3))


FORK = """
import os, warnings
warnings.simplefilter("ignore")
import gymnasium as gym, saccade
envs = gym.make_vec("saccade/Catch-v0", num_envs=70, threads=2)
envs.reset(seed=0)
action = envs.action_space.sample()
envs.step(action)

def refused(call):
    try:
        call()
    except RuntimeError as error:
        return "forked" in str(error)
    return False

child = os.fork()
if child == 0:
    good = all(map(refused, [
        lambda: envs.step(action),
        envs.reset,
        lambda: gym.make_vec("saccade/Catch-v0", num_envs=70, threads=2),
    ]))
    one = gym.make("saccade/Catch-v0")  # has no threads
    one.reset(seed=0)
    one.step(one.action_space.sample())
    os._exit(0 if good else 1)
assert os.waitpid(child, 0)[1] == 0
envs.step(action)
"""


def test_threads_are_refused_in_a_forked_process():
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=120)
