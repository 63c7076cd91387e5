"""Trained agents in a user's own scenes and worlds: rolled out, recorded and compared."""

from __future__ import annotations

import numpy as np
import pytest
import saccade
from test_own_scenes import CONFIG, Bars, Numbered
from test_own_world import CONFIG as WORLD_CONFIG
from test_own_world import Lamp
from test_own_world import run as world_run  # noqa: F401
from test_own_world import world  # noqa: F401

FIRST_VALID, FIRST_TEST = 2**61, 2**62


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return saccade.train(CONFIG, scenes=Bars(), threads=2, out=tmp_path_factory.mktemp("own") / "bars")


def made(scenes, first, count):
    """canvases (N, channels, rows, cols) in [0, 1], labels and boxes."""
    canvases, labels, boxes = scenes.canvases(first + np.arange(count))
    return canvases.transpose(0, 3, 1, 2) / np.float32(255), labels, boxes[:, None]


def asked_for(scenes):
    """The numbers of its scenes, apart from the first ones, which tell what a canvas is."""
    return {int(n) for call in scenes.calls if len(call) > 2 for n in call}


class Wide(Bars):
    def canvases(self, indices):
        canvases, labels, boxes = super().canvases(indices)
        return np.pad(canvases, [(0, 0), (0, 0), (0, 6), (0, 0)]), labels, boxes


class Blank:
    """As many classes as there are digits."""

    num_classes = 10

    def canvases(self, indices):
        return np.zeros((len(indices), 60, 60), np.uint8), indices % 10, None


def lost(*_):
    raise KeyError("no such file")


class Broken(Bars):
    """Gives something else once it is asked for more than the first scenes."""

    def __init__(self, change=lost) -> None:
        super().__init__()
        self.change = change

    def canvases(self, indices):
        canvases = super().canvases(indices)
        return self.change(*canvases) if len(indices) > 2 else canvases


# ---- Rollouts


def test_a_rollout_shows_a_runs_own_test_scenes(run):
    scenes = Bars()
    look = run.agent(threads=2).rollout(scenes=scenes, canvases=True)
    canvases, labels, boxes = made(Bars(), FIRST_TEST, 150)
    np.testing.assert_array_equal(look.labels, labels)
    np.testing.assert_allclose(look.canvases, canvases, atol=1e-6)
    np.testing.assert_array_equal(look.boxes, boxes)
    assert look.errors.mean() == pytest.approx(run.summary["test/error"])
    seed = run.config["evaluation"]["seed"]
    shown = run.agent().rollout(images=Bars().canvases(FIRST_TEST + np.arange(150))[0], seed=seed)
    np.testing.assert_array_equal(look.probabilities, shown.probabilities)
    assert asked_for(scenes) == set(range(FIRST_TEST, FIRST_TEST + 150))


def test_a_rollout_makes_as_many_scenes_as_it_shows_of_the_split_it_shows(run):
    agent = run.agent()
    for split, first in (("train", 0), ("valid", FIRST_VALID), ("test", FIRST_TEST)):
        scenes = Bars()
        look = agent.rollout(scenes=scenes, episodes=30, split=split)
        np.testing.assert_array_equal(look.labels, made(Bars(), first, 30)[1])
        if split != "train":
            assert asked_for(scenes) == set(range(first, first + 30))
    valid, test = Numbered(), Numbered()
    agent.rollout(scenes=Bars(), valid_scenes=valid, test_scenes=test, episodes=30)
    assert (asked_for(valid), asked_for(test)) == (set(), set(range(30)))


def test_a_rollout_in_own_scenes_does_not_depend_on_the_number_of_threads(run):
    one, three = (
        run.agent(threads=threads).rollout(scenes=Bars(), episodes=250, readout="sampled") for threads in (1, 3)
    )
    assert [name for name in one if not np.array_equal(one[name], three[name])] == []


def test_a_rollout_has_the_weights_that_the_agent_has_now(run):
    weights = {f"classifier.{name}": 0 * run.agent().parameters[f"classifier.{name}"] for name in ("weight", "bias")}
    look = run.agent().with_parameters(weights).rollout(scenes=Bars(), episodes=20)
    np.testing.assert_allclose(look.probabilities, 1 / 3)


def test_a_rollout_shows_other_scenes_that_the_network_can_look_at(run):
    look = run.agent().rollout(scenes=Wide(), episodes=20, canvases=True)
    np.testing.assert_allclose(look.canvases, made(Wide(), FIRST_TEST, 20)[0], atol=1e-6)
    digits = saccade.load("cluttered60").rollout(scenes=Blank(), episodes=40)
    np.testing.assert_array_equal(digits.labels, (FIRST_TEST + np.arange(40)) % 10)
    assert digits.boxes.shape == (40, 0, 4)


def test_a_rollout_plays_in_a_world(world, world_run):
    agent = world_run.agent(threads=2)
    look = agent.rollout(world=world)
    assert look.errors.mean() == pytest.approx(world_run.summary["test/error"])
    assert look.canvases is None and look.boxes is None
    few = agent.rollout(world=world, episodes=20)
    np.testing.assert_array_equal(few.probabilities, agent.rollout(world=world, scenes=20).probabilities)
    np.testing.assert_array_equal(few.locations, look.locations[:20])
    if world is Lamp:
        np.testing.assert_array_equal(few.labels, Lamp(20).reset(FIRST_TEST + np.arange(20)))


def test_a_callback_rolls_out_in_the_scenes_it_trains_on(tmp_path):
    scenes, seen = Bars(), []

    def callback(row, training):
        seen.append(training.agent().rollout(scenes=scenes, episodes=20))

    saccade.train(CONFIG, scenes=scenes, callback=callback, out=tmp_path / "run")
    assert len(seen) == 4
    for look in seen:
        np.testing.assert_array_equal(look.labels, made(Bars(), FIRST_TEST, 20)[1])


def test_worlds_are_closed_after_a_rollout(tmp_path):
    opened = []

    class Closing(Lamp):
        def __init__(self, count):
            super().__init__(count)
            opened.append(self)

        def close(self):
            opened.remove(self)

    agent = saccade.train(WORLD_CONFIG, {"training.episodes": 128}, world=Lamp, out=tmp_path / "run").agent()
    agent.rollout(world=Closing, episodes=20)
    assert opened == []
    with pytest.raises(saccade.InputError):
        agent.rollout(world=Closing, episodes=20, readout="best")
    assert opened == []


# ---- Recordings


def test_a_recording_shows_a_runs_own_test_scenes(run, tmp_path):
    scenes = Bars()
    recording = saccade.record(run, scenes=scenes, episodes=3)
    sheet = recording.save(tmp_path / "own.png").read_bytes()
    assert asked_for(scenes) == set(range(FIRST_TEST, FIRST_TEST + 3))
    again = saccade.record(run, scenes=Bars(), episodes=3, threads=1).save(tmp_path / "again.png")
    assert again.read_bytes() == recording.save(tmp_path / "own.png", force=True).read_bytes() == sheet
    other = saccade.record(run, scenes=Bars(), valid_scenes=Bars(), test_scenes=Numbered(), episodes=3)
    assert other.save(tmp_path / "other.png").read_bytes() != sheet
    assert "4 scenes" in repr(saccade.record(run, scenes=Bars()))


def test_agents_are_recorded_side_by_side_on_own_scenes(run, tmp_path):
    untrained = saccade.train(CONFIG, {"training.episodes": 128}, scenes=Bars(), out=tmp_path / "other")
    sheets = [
        saccade.record([run, untrained], scenes=Bars(), names=["a", "b"], threads=threads)
        .save(tmp_path / f"{threads}.png")
        .read_bytes()
        for threads in (1, 2)
    ]
    assert sheets[0] == sheets[1]
    assert saccade.record("cluttered60", scenes=Blank(), episodes=2).gif().startswith(b"GIF")


def test_a_world_cannot_be_drawn(world_run):
    with pytest.raises(saccade.InputError, match="has no canvas to draw"):
        saccade.record(world_run).gif()


# ---- Comparisons


def test_a_comparison_tests_and_records_on_own_scenes(run, tmp_path):
    without = saccade.compare(run, out=tmp_path / "without")
    assert "its scenes come from a program" in (without.report.parent / "compare.md").read_text()
    compared = saccade.compare(run, out=tmp_path / "with", scenes=Bars(), threads=2)
    text = (compared.report.parent / "compare.md").read_text()
    assert "scenes=<Bars>" in text and "come from a program" not in text
    assert len(list(compared.report.parent.glob("recording.*"))) == 1
    (variant,), (before,) = (each.to_dict()["variants"] for each in (compared, without))
    assert variant["test/error"] == before["test/error"] == run.summary["test/error"]
    wide = saccade.compare(run, out=tmp_path / "wide", scenes=Wide()).to_dict()["variants"][0]
    assert wide["test/other_scenes"] == {"scene.canvas": {"training": [20, 24], "test": [20, 30]}}


def test_a_comparison_plays_in_a_world(world, world_run, tmp_path):
    compared = saccade.compare(world_run, out=tmp_path / "out", world=world)
    assert compared.to_dict()["variants"][0]["test/error"] == world_run.summary["test/error"]
    assert f"world=<{world.__name__}>" in (compared.report.parent / "compare.md").read_text()


# ---- What is refused


def uses(run, tmp_path):
    """What an agent of a run does with own scenes, by the word that is said when it is stopped."""
    return {
        "rollout": run.agent().rollout,
        "recording": lambda **given: saccade.record(run, **given).save(tmp_path / "looks.png"),
        "comparison": lambda **given: saccade.compare(run, out=tmp_path / "out", **given),
    }


@pytest.mark.parametrize("use", ["rollout", "recording", "comparison"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scenes": Bars(3)}, "scene.channels: 3: the network would have"),
        ({"scenes": Blank()}, "10 answers, and the agent knows 3"),
        ({"test_scenes": Bars()}, "test_scenes: given without scenes"),
        ({"scenes": Bars(), "test_scenes": 3}, "test_scenes: int without a method canvases"),
        ({"scenes": saccade.scenes.from_generator(lambda: iter([]), class_names=3)}, "valid_scenes and test_scenes: None; allowed"),
    ],
)
def test_what_an_agent_cannot_look_at_is_refused(run, tmp_path, use, arguments, words):
    with pytest.raises(saccade.InputError) as error:
        uses(run, tmp_path)[use](**arguments)
    assert words in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scenes": Bars(), "world": Lamp}, "world: given together with scenes; allowed: one of the two"),
        ({"images": np.zeros((2, 20, 24)), "world": Lamp}, "world: given together with images; allowed: one of the two"),
        ({"images": np.zeros((2, 20, 24)), "scenes": Bars()}, "scenes: given together with images"),
        ({"images": np.zeros((2, 20, 24)), "scenes": 2}, "scenes: given together with images"),
        ({"images": np.zeros((2, 20, 24)), "episodes": 2}, "episodes: given together with images"),
        ({"scenes": 3, "episodes": 3}, "episodes: given together with a number of scenes"),
        ({"scenes": Bars(), "episodes": 0}, "episodes: 0; allowed: 1 to"),
        ({"scenes": Bars(), "episodes": 2.5}, "episodes: 2.5; allowed: an integer"),
        ({"scenes": "Bars"}, "scenes: 'Bars'; allowed: an integer"),
        ({"world": Lamp}, "scene.kind: own_world, "),
        ({"world": 3}, "world: int; allowed: a function of the number of episodes"),
        ({}, "scene.kind: own: its scenes come from a program"),
    ],
)
def test_a_rollout_names_what_does_not_go_together(run, arguments, words):
    with pytest.raises(saccade.InputError) as error:
        run.agent().rollout(**arguments)
    assert words in str(error.value)


def test_agents_of_digits_cannot_answer_own_scenes_of_other_classes(tmp_path):
    agent = saccade.load("cluttered60")
    for use in (agent.rollout, lambda scenes: saccade.record(agent, scenes=scenes).save(tmp_path / "looks.png")):
        with pytest.raises(saccade.InputError, match="3 answers, and the agent knows 10"):
            use(scenes=Bars())


@pytest.mark.parametrize("use", ["rollout", "recording", "comparison"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lost, "KeyError: 'no such file'"),
        (lambda c, k, b: (c[1:], k, b), "canvases: shape ("),
        (lambda c, k, b: (c / 255, k, b), "canvases: an array of float64; allowed: uint8"),
        (lambda c, k, b: (c, k + 1, b), "labels: 1 to 3; allowed: 0 to 2"),
        (lambda c, k, b: (c, k, b + [20, 0, 0, 0]), "; allowed: on the canvas, 24 x 20 pixels"),
    ],
)
def test_scenes_that_fail_are_the_cause(run, tmp_path, use, change, words):
    with pytest.raises(RuntimeError, match="(test|validation) scenes ") as raised:
        uses(run, tmp_path)[use](scenes=Broken(change))
    assert words in str(raised.value)
    if change is lost:
        assert str(raised.value).startswith(f"scenes: the {use} was stopped: ")
        assert isinstance(raised.value.__cause__, KeyError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lost, "look() of scenes 4611686018427387904 to 4611686018427388003: KeyError: 'no such file'"),
        (lambda seen: seen * np.nan, "glimpses: contains a number that is not finite"),
        (lambda seen: seen[1:], "glimpses: shape (99, "),
    ],
)
def test_a_world_that_fails_is_the_cause(world, world_run, tmp_path, change, words):
    class Broken(world):
        def look(self, locations):
            seen = super().look(locations)
            return change(seen) if len(locations) > 2 else seen

    with pytest.raises(RuntimeError) as raised:
        world_run.agent(threads=1).rollout(world=Broken)
    assert words in str(raised.value)
    assert str(raised.value).startswith("world: the rollout was stopped: ")
    with pytest.raises(RuntimeError, match="world: the comparison was stopped: "):
        saccade.compare(world_run, out=tmp_path / "out", world=Broken)
