"""Training in worlds that Python makes: the same bytes however often it stops, and what is refused."""

from __future__ import annotations

import subprocess
import threading

import gymnasium as gym
import numpy as np
import pytest
import saccade
from training_support import SMALL, assert_same_results

CONFIG = {
    **SMALL,
    "name": "own_world",
    "attention.glimpse.num_glimpses": 4,
    "attention.glimpse.std": 0.3,
    "evaluation.scenes": 150,
}
LONGER = {"training.episodes": 40_000, "evaluation.every": 20_000, "log.every": 20_000}


class Lamp:
    """A lamp shows its colour, the class, to those who look near it; others see where it is."""

    class_names = ("red", "green")

    def __init__(self, count: int) -> None:
        self.calls: list[tuple[int, ...]] = []
        self.threads: set[int] = set()

    def reset(self, scenes):
        draws = [np.random.default_rng([7, scene]) for scene in scenes]
        self.calls.append(tuple(scenes.tolist()))
        self.lamps = np.array([draw.uniform(-0.8, 0.8, 2) for draw in draws])
        self.labels = np.array([draw.integers(2) for draw in draws])
        return self.labels

    def look(self, locations):
        self.threads.add(threading.get_ident())
        away = self.lamps - locations
        near = np.linalg.norm(away, axis=1) < 0.4
        return np.column_stack([away, near * (2.0 * self.labels - 1.0)])


class Door:
    """Whoever looks to the right sees which of two doors to push, left or right in turn."""

    action_names = ("left", "right")
    best_return = 4

    def __init__(self, count: int) -> None:
        self.acts = 0

    def reset(self, scenes):
        self.doors = np.array([np.random.default_rng([3, scene]).integers(2) for scene in scenes])
        self.acts = 0

    def look(self, locations):
        return np.where(locations[:, :1] > 0, 2.0 * self.doors[:, None] - 1.0, 0.0)[:, :, None]

    def act(self, actions):
        rewards = actions == self.doors
        self.doors = 1 - self.doors
        self.acts += 1
        return rewards.astype(np.int64)


@pytest.fixture(scope="module", params=[Lamp, Door])
def world(request):
    return request.param


@pytest.fixture(scope="module")
def run(world, tmp_path_factory):
    """Of two threads."""
    return saccade.train(CONFIG, world=world, threads=2, out=tmp_path_factory.mktemp("own") / "run")


def test_any_number_of_threads_gives_the_same_bytes(world, run, tmp_path):
    one = saccade.train(CONFIG, world=world, threads=1, out=tmp_path / "one")
    assert_same_results(one.path, run.path)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_run_that_stops_and_is_resumed_gives_the_same_bytes(world, run, tmp_path, rows):
    seen = []
    stopped = saccade.train(
        CONFIG,
        world=world,
        threads=2,
        out=tmp_path / "run",
        callback=lambda row: seen.append(row) or len(seen) == rows,
    )
    assert not stopped.finished
    again = saccade.train(CONFIG, world=world, threads=1, out=stopped.path, resume=True)
    assert_same_results(again.path, run.path)


def test_a_run_learns_where_to_look_and_what_to_answer(world, tmp_path):
    learned = saccade.train(
        CONFIG, {**LONGER, "training.learning_rate": 0.003, "seed": 1}, world=world, out=tmp_path / "run"
    ).summary
    # At the centre, half of the doors are guessed and most lamps too far away.
    assert learned["test/error_center"] > 0.3
    assert learned["test/error_sampled"] < 0.2
    assert learned["test/error_sampled"] < learned["test/error_random"] - 0.05


def test_a_world_is_made_for_each_thread_and_called_once_a_step(tmp_path):
    made: list[tuple[int, Lamp]] = []

    def make(count):
        made.append((count, Lamp(count)))
        return made[-1][1]

    saccade.train(CONFIG, {"training.episodes": 512}, world=make, threads=1, out=tmp_path / "run")
    assert [count for count, _ in made] == [2, 32, 100, 100, 100]  # the last is for the threshold of a stop
    calls = {count: world.calls for count, world in made[:2]}
    assert calls == {2: [(0, 1)], 32: [tuple(range(32 * k, 32 * k + 32)) for k in range(16)]}
    for (_, world), first in zip(made[2:], (2**61, 2**62, 2**61)):
        assert {scene for call in world.calls for scene in call} <= set(range(first, first + 200))
        assert len(world.threads) == 1


def test_rollouts_share_a_scene(tmp_path):
    asked = []

    class Seen(Lamp):
        def reset(self, scenes):
            asked.append(scenes.tolist())
            return super().reset(scenes)

    more = {"reinforce.rollouts": 4, "reinforce.advantage": "leave_one_out", "training.episodes": 128}
    saccade.train(CONFIG, more, world=Seen, threads=1, out=tmp_path / "run")
    assert [call for call in asked if len(call) == 32][:2] == [
        np.repeat(np.arange(8 * k, 8 * k + 8), 4).tolist() for k in range(2)
    ]


def test_the_configuration_says_what_the_world_is(world, run):
    scene = run.config["scene"]
    if world is Lamp:
        assert (scene["kind"], scene["glimpse_size"], scene["classes"]) == ("own_world", 3, ["red", "green"])
    else:
        assert (scene["kind"], scene["glimpse_size"], scene["classes"]) == ("own_game", 1, ["left", "right"])
        assert scene["best_return"] == 4
    assert f"world=<{world.__name__}>" in (run.path / "command.txt").read_text()


def test_an_evaluation_plays_in_the_world(world, run):
    again = saccade.evaluate(run, world=world)
    tested = {name: value for name, value in run.summary.items() if name.startswith("test/error")}
    assert tested and tested.items() <= again.items()


def test_an_agent_plays_by_itself_and_needs_the_program_for_its_own_world(run):
    agent = run.agent()
    if run.config["scene"]["kind"] == "own_world":
        state = agent.start(size=5)
        look = agent.step(state, np.zeros((5, 2)), np.full((5, 3), -2.0))
        assert look.probabilities.shape == (5, 2) and look.next_locations.shape == (5, 2)
    for call in (lambda: agent.rollout(scenes=10), lambda: saccade.evaluate(run), lambda: agent.saliency()):
        with pytest.raises(saccade.InputError, match="its glimpses come from a program, and none gives them"):
            call()
    for call in (agent.rollout, agent.saliency):
        with pytest.raises(saccade.InputError, match="images|canvas"):
            call(images=np.zeros((3, 20, 20), np.uint8))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["eval", "RUN"], "its glimpses come from a program, and none gives them here"),
        (["gradients", "RUN"], "its glimpses come from a program, and none gives them here"),
        (["bench", "RUN/config.yaml"], "its glimpses come from a program, and none gives them here"),
        (["run", "RUN/config.yaml", "--out", "OUT"], "its glimpses come from a program, and none gives them here"),
        (["record", "RUN", "--out", "OUT.png"], "has no canvas to draw; allowed: kinds that have one"),
        (["saliency", "RUN", "--out", "OUT"], "canvas"),
    ],
)
def test_commands_that_need_the_world_say_so(run, program, tmp_path, command, words):
    places = {"RUN": str(run.path), "OUT": str(tmp_path / "out")}
    for name, path in places.items():
        command = [word.replace(name, path) for word in command]
    done = subprocess.run([program, *command], capture_output=True, text=True)
    assert done.returncode == 2
    assert words in done.stderr


def test_runs_are_compared_without_a_recording(run, program, tmp_path):
    command = [program, "compare", str(run.path), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{run.summary['test/error']:.2%}".split("%")[0] in done.stdout
    assert "has no canvas to draw" in (tmp_path / "out" / "compare.md").read_text()


def test_where_it_really_looked_is_what_the_agent_reads(tmp_path):
    """A world that always looks at the centre, whatever is asked: so says the test of its looks."""

    class Fixed(Lamp):
        def __init__(self, count, told):
            self.told = told

        def look(self, locations):
            glimpses = super().look(0 * locations)
            return {"glimpses": glimpses, "locations": 0 * locations} if self.told else glimpses

    Fixed.threads = Fixed.calls = None

    class Plain(Fixed):
        def reset(self, scenes):
            self.calls, self.threads = [], set()
            return super().reset(scenes)

    edges = {"training.episodes": 256, "attention.glimpse.std": 1.0}
    runs = {
        told: saccade.train(
            CONFIG, edges, world=lambda count, told=told: Plain(count, told), out=tmp_path / str(told)
        )
        for told in (True, False)
    }
    assert runs[True].summary["attention/border"] == 0.0
    first = {told: run.metrics["train/loss"][0] for told, run in runs.items()}
    assert first[True] != first[False]


def test_the_class_may_be_told_by_a_look(run, world, tmp_path):
    if world is not Lamp:
        return

    class Late(Lamp):
        def reset(self, scenes):
            super().reset(scenes)
            self.looks = 0

        def look(self, locations):
            self.looks += 1
            return {
                "glimpses": super().look(locations),
                "labels": self.labels if self.looks == 4 else None,
            }

    late = saccade.train(CONFIG, world=Late, threads=2, out=tmp_path / "run")
    assert_same_results(late.path, run.path)


def test_the_errors_of_a_game_are_shares_whatever_it_pays(tmp_path):
    def paid(rewards):
        return 10.0 * rewards - 5.0

    runs = [
        saccade.train(CONFIG, {"training.episodes": 256, "seed": seed}, world=with_act(paid), out=tmp_path / f"{seed}")
        for seed in (1, 2)
    ]
    errors = [value for run in runs for key, value in run.summary.items() if key.startswith("test/error")]
    assert 0.0 <= min(errors) < max(errors) <= 1.0
    assert len(saccade.compare(*runs, out=tmp_path / "out").to_dict()["variants"]) == 1


# ---- What is refused


def with_look(change):
    class Changed(Lamp):
        def look(self, locations):
            return change(super().look(locations), locations)

    return Changed


def with_act(change):
    class Changed(Door):
        def act(self, actions):
            return change(super().act(actions))

    return Changed


def lost(*_):
    raise KeyError("the world is lost")


def not_finite(array, *_):
    array = array.astype(float)
    array[-1] = np.nan
    return array


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (with_look(lambda g, _: g[1:]), "glimpses: shape (1, 3); allowed: (2, any)"),
        (with_look(lambda g, _: g.astype(str)), "glimpses: an array of <U"),
        (with_look(not_finite), "glimpses: contains a number that is not finite"),
        (with_look(lambda g, _: g[:, 0]), "glimpses: shape (2,); allowed: (2, any)"),
        (with_look(lambda g, _: g[:, :0]), "glimpses: shape (2, 0); allowed: one value or more"),
        (with_look(lambda g, _: {"glimpse": g}), "a dict of ['glimpse']; allowed: glimpses, locations, labels"),
        (with_look(lambda g, at: {"glimpses": g, "locations": at[:, 0]}), "locations: shape (2,); allowed: (2, 2)"),
        (with_look(lambda g, at: {"glimpses": g, "locations": at + 2}), "locations: 2.0 to 2.0; allowed: -1 to 1"),
        (with_look(lambda g, _: {"glimpses": g, "labels": [0, 2]}), "labels: 0 to 2; allowed: 0 to 1"),
        (with_look(lambda g, _: {"glimpses": g, "labels": [0, 0.5]}), "labels: an array of float64; allowed: integers"),
        (type("Few", (Lamp,), {"class_names": ["one"]}), "with the classes ['one']; allowed: two names or more"),
        (type("None_", (Lamp,), {"class_names": None}), "with the classes None; allowed: two names or more"),
        (type("Blind", (), {"__init__": Lamp.__init__, "reset": Lamp.reset}), "Blind without a method look"),
        (lambda count: 3, "world: int without a method reset"),
        (Lamp(2), "world: Lamp; allowed: a function of the number of episodes"),
        ("world", "world: str; allowed: a function of the number of episodes"),
    ],
)
def test_what_is_no_world_is_refused_before_there_is_a_run(tmp_path, world, words):
    with pytest.raises(saccade.InputError) as error:
        saccade.train(CONFIG, world=world, out=tmp_path / "run")
    assert words in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"attention.glimpse.kind": "soft_point"}, "attention.glimpse.kind: soft_point needs a canvas"),
        ({"attention.glimpse.kind": "hard_categorical"}, "attention.glimpse.kind: hard_categorical needs"),
        ({"attention.glimpse.kind": "soft_grid"}, "attention.glimpse.kind: soft_grid needs a canvas"),
        ({"attention.glimpse.kind": "soft_gaussian"}, "attention.glimpse.kind: soft_gaussian needs a canvas"),
        ({"attention.glimpse.kind": "whole"}, "attention.glimpse.kind: whole needs a canvas"),
        ({"model.kind": "cnn"}, "model.kind: cnn needs a canvas"),
        ({"model.context": "thumbnail"}, "model.context: thumbnail needs a canvas"),
        ({"model.glimpse_network": "conv"}, "model.glimpse_network: conv needs a canvas"),
        ({"reinforce.estimator": "both"}, "reinforce.estimator: both needs a canvas"),
        ({"attention.glimpse.zoom": {"from": 1, "to": 2}}, "attention.glimpse.zoom: 1 to 2 needs a canvas"),
        ({"record.every": 512}, "record.every: 512 needs a canvas"),
        ({"scene.glimpse_size": 9}, "scene.glimpse_size is given together with world"),
    ],
)
def test_what_needs_a_canvas_is_refused_by_its_key(tmp_path, overrides, words):
    with pytest.raises(saccade.InputError) as error:
        saccade.train(CONFIG, overrides, world=Lamp, out=tmp_path / "run")
    assert words in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"scenes": 3}, "world: given together with scenes"),
        ({"images": np.zeros((9, 8, 8))}, "world: given together with images"),
        ({"labels": [0, 1]}, "images and labels: only one is given"),
        ({"test_images": np.zeros((9, 8, 8))}, "test_images: given without images"),
        ({"test_labels": [0, 1]}, "test_images and test_labels: only one is given"),
    ],
)
def test_a_world_comes_without_other_scenes(tmp_path, other, words):
    for use, config in ((saccade.train, CONFIG), (saccade.study, {**CONFIG, "seeds": 2})):
        with pytest.raises(saccade.InputError, match=words):
            use(config, world=Lamp, **other, out=tmp_path / "run")


def test_settings_of_canvases_have_no_effect(tmp_path):
    with pytest.warns(UserWarning, match="retina.patch_size has no effect while scene.kind is own_world"):
        saccade.train({**CONFIG, "retina.patch_size": 6}, {"training.episodes": 128}, world=Lamp, out=tmp_path / "r")


def broken_after(base, method, change, first=1024):
    """The class `base`, whose method's result changes from training scene `first` on."""

    class Broken(base):
        def reset(self, scenes):
            self.broken = first <= scenes[0] < 2**60
            given = super().reset(scenes)
            return change(given) if self.broken and method == "reset" else given

        def look(self, locations):
            seen = super().look(locations)
            return change(seen) if self.broken and method == "look" else seen

    if hasattr(base, "act"):

        def act(self, actions):
            earned = base.act(self, actions)
            return change(earned) if self.broken and method == "act" else earned

        Broken.act = act
    return Broken


@pytest.mark.parametrize(
    ("method", "change", "words"),
    [
        ("reset", lost, "reset() of scenes 1024 to 1055: KeyError: 'the world is lost'"),
        ("look", lost, "look() of scenes 1024 to 1055: KeyError: 'the world is lost'"),
        ("act", lost, "act() of scenes 1024 to 1055: KeyError: 'the world is lost'"),
        ("look", not_finite, "glimpses: contains a number that is not finite; allowed: finite numbers"),
        ("look", lambda seen: seen[:, 1:], "InputError: glimpses: shape (32, "),
        ("look", lambda seen: seen[:-1], "InputError: glimpses: shape (31, "),
        ("look", lambda seen: {"glimpses": seen, "locations": np.full((32, 2), -3)}, "locations: -3 to -3; allowed: -1 to 1"),
        ("act", not_finite, "rewards: contains a number that is not finite; allowed: finite numbers"),
        ("act", lambda earned: earned[:, None], "rewards: shape (32, 1); allowed: (32)"),
        ("act", lambda earned: None, "rewards: an array of object; allowed: numbers"),
        ("reset", lambda labels: labels + 1, "labels: 1 to 2; allowed: 0 to 1"),
        ("reset", lambda labels: None, "labels: neither the reset nor one of 4 looks told the class of episode 0 of a lane"),
    ],
)
def test_a_world_that_fails_stops_the_training_saved(world, run, tmp_path, method, change, words):
    if (method == "act" and world is Lamp) or ("labels" in words and world is Door):
        return
    out = tmp_path / "run"
    with pytest.raises(RuntimeError) as raised:
        saccade.train(CONFIG, world=broken_after(world, method, change), threads=1, out=out)
    message = str(raised.value)
    assert words in message
    assert "resume=True continues the run from " in message
    if change is lost:
        assert message.startswith("world: the training was saved and stopped: ")
        assert isinstance(raised.value.__cause__, KeyError)
    # Saved after the last whole update: a run that continues has the same bytes.
    again = saccade.train(CONFIG, world=world, out=out, resume=True)
    assert_same_results(again.path, run.path)


def test_a_world_that_fails_in_the_validation_stops_the_training_saved(world, run, tmp_path):
    class Lost(world):
        def reset(self, scenes):
            if 2**61 <= scenes[0] < 2**62:
                raise OSError("the disk is gone")
            return super().reset(scenes)

    with pytest.raises(RuntimeError, match="OSError: the disk is gone") as raised:
        saccade.train(CONFIG, world=Lost, out=tmp_path / "run")
    assert isinstance(raised.value.__cause__, OSError)
    again = saccade.train(CONFIG, world=world, out=tmp_path / "run", resume=True)
    assert_same_results(again.path, run.path)


def test_arrays_that_are_not_contiguous_are_copied(world, run, tmp_path):
    class Strided(world):
        def reset(self, scenes):
            labels = super().reset(scenes)
            return None if labels is None else np.repeat(labels, 2)[::2]

        def look(self, locations):
            return np.asfortranarray(super().look(locations))[::-1][::-1]

    if hasattr(world, "act"):
        Strided.act = lambda self, actions: np.repeat(world.act(self, actions), 2)[::2]
    assert_same_results(saccade.train(CONFIG, world=Strided, out=tmp_path / "run").path, run.path)


def test_worlds_are_closed_whatever_happens(tmp_path):
    opened = []

    class Closing(Lamp):
        def __init__(self, count):
            super().__init__(count)
            opened.append(self)

        def close(self):
            opened.remove(self)

    saccade.train(CONFIG, {"training.episodes": 256}, world=Closing, out=tmp_path / "run")
    assert opened == []
    with pytest.raises(RuntimeError):
        saccade.train(CONFIG, world=broken_after(Closing, "look", lost), out=tmp_path / "lost")
    assert opened == []
    with pytest.raises(saccade.InputError):
        saccade.train(CONFIG, {"model.kind": "cnn"}, world=Closing, out=tmp_path / "refused")
    assert opened == []
