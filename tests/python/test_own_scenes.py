"""Training on scenes that Python makes: the same bytes however often it stops, and what is refused."""

from __future__ import annotations

import itertools
import logging
import threading

import numpy as np
import pytest
import saccade
from training_support import SMALL, assert_same_results

# Few scenes, so that blocks of training, validation and test are all read more than once.
CONFIG = {
    **SMALL,
    "name": "own",
    "retina.patch_size": 6,
    "attention.glimpse.num_glimpses": 3,
    "evaluation.scenes": 150,
}


class Bars:
    """A bright bar in noise: is it upright (0), level (1), or a square (2)?"""

    class_names = ("upright", "level", "a square")
    sides = np.array([[9, 3], [3, 9], [5, 5]])  # rows, cols

    def __init__(self, channels: int = 1, with_boxes: bool = True) -> None:
        self.channels, self.with_boxes = channels, with_boxes
        self.calls: list[np.ndarray] = []
        self.threads: set[int] = set()

    def canvases(self, indices):
        self.calls.append(indices.copy())
        self.threads.add(threading.get_ident())
        canvases = np.zeros((len(indices), 20, 24, self.channels), np.uint8)
        labels = np.zeros(len(indices), np.int64)
        boxes = np.zeros((len(indices), 4), np.int64)
        for i, index in enumerate(indices):
            draw = np.random.default_rng([5, index])
            canvases[i] = draw.integers(0, 60, canvases[i].shape)
            labels[i] = draw.integers(3)
            rows, cols = self.sides[labels[i]]
            y, x = draw.integers(20 - rows + 1), draw.integers(24 - cols + 1)
            canvases[i, y : y + rows, x : x + cols] = 255
            boxes[i] = x, y, cols, rows
        return canvases, labels, boxes if self.with_boxes else None


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Of two threads."""
    return saccade.train(CONFIG, scenes=Bars(), threads=2, out=tmp_path_factory.mktemp("own") / "run")


def test_scenes_come_in_blocks_of_a_batch_from_one_thread_of_their_own(tmp_path):
    scenes = Bars()
    saccade.train(CONFIG, scenes=scenes, threads=2, out=tmp_path / "run")
    trained = [call for call in scenes.calls if len(call) > 2 and call[0] < 2**60]
    assert [call.tolist() for call in trained[:16]] == [
        list(range(128 * k, 128 * (k + 1))) for k in range(16)
    ]
    # Not more than is read ahead.
    assert len(trained) <= 16 + 2
    for first in (2**61, 2**62):
        asked = {int(n) - first for call in scenes.calls for n in call if first <= n < 2 * first}
        assert asked == set(range(150))
    assert threading.get_ident() in scenes.threads  # the first scenes, before the run begins
    assert len(scenes.threads) == 4


def test_any_number_of_threads_gives_the_same_bytes(run, tmp_path):
    one = saccade.train(CONFIG, scenes=Bars(), threads=1, out=tmp_path / "one")
    assert_same_results(one.path, run.path)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_run_that_stops_and_is_resumed_gives_the_same_bytes(run, tmp_path, rows):
    seen = []
    stopped = saccade.train(
        CONFIG,
        scenes=Bars(),
        threads=2,
        out=tmp_path / "run",
        callback=lambda row: seen.append(row) or len(seen) == rows,
    )
    assert not stopped.finished
    again = saccade.train(CONFIG, scenes=Bars(), threads=1, out=stopped.path, resume=True)
    assert_same_results(again.path, run.path)


def test_a_run_learns_what_the_scenes_show(run, tmp_path):
    config = {**CONFIG, "training.episodes": 40_000, "evaluation.every": 20_000, "log.every": 20_000}
    learned = saccade.train(config, {"training.learning_rate": 0.003}, scenes=Bars(), out=tmp_path / "run")
    assert learned.summary["test/error"] < 0.35 < run.summary["test/error"]
    assert learned.agent().class_names == ["upright", "level", "a square"]


def test_boxes_are_where_the_scenes_say(tmp_path):
    oracle = {"attention.glimpse.kind": "oracle", "training.episodes": 256}
    assert saccade.train(CONFIG, oracle, scenes=Bars(), out=tmp_path / "run").summary["attention/on_target"] == 1.0


def test_the_configuration_says_what_the_scenes_are(run):
    scene = run.config["scene"]
    assert (scene["kind"], scene["canvas"], scene["channels"]) == ("own", [20, 24], 1)
    assert scene["classes"] == ["upright", "level", "a square"]
    assert "scenes=<Bars>" in (run.path / "command.txt").read_text()


def test_an_agent_looks_at_canvases_and_needs_the_program_for_its_own_scenes(run):
    canvases, labels, _ = Bars().canvases(np.arange(30))
    look = run.agent().rollout(images=canvases, labels=labels)
    assert look.probabilities.shape == (30, 3, 3)
    with pytest.raises(saccade.InputError, match="scene.kind: own: its scenes come from a program"):
        run.agent().rollout(scenes=10)
    with pytest.raises(saccade.InputError, match="scene.kind: own: its scenes come from a program"):
        saccade.evaluate(run)


def test_an_evaluation_shows_a_runs_own_scenes_and_others(run):
    again = saccade.evaluate(run, scenes=Bars())
    tested = {name: value for name, value in run.summary.items() if name.startswith("test/error")}
    assert tested and tested.items() <= again.items()
    assert "test/other_scenes" not in again
    more = Bars()
    saccade.evaluate(run, 400, scenes=more, threads=1)
    asked = {int(n) - 2**62 for call in more.calls for n in call if n >= 2**62}
    assert asked == set(range(400))

    class Wide(Bars):
        def canvases(self, indices):
            canvases, labels, boxes = super().canvases(indices)
            return np.pad(canvases, [(0, 0), (0, 0), (0, 6), (0, 0)]), labels, boxes

    differs = saccade.evaluate(run, scenes=Wide())["test/other_scenes"]
    assert differs == {"scene.canvas": {"training": [20, 24], "test": [20, 30]}}


def test_an_agent_of_digits_is_tested_on_own_scenes_of_as_many_classes():
    class Blank:
        num_classes = 10

        def canvases(self, indices):
            return np.zeros((len(indices), 60, 60), np.uint8), indices % 10, None

    figures = saccade.evaluate("cluttered60", 100, draws=1, scenes=Blank())
    assert figures["test/error"] == pytest.approx(0.9)
    assert "scene.kind" in figures["test/other_scenes"]
    with pytest.raises(saccade.InputError, match="classifier.weight"):
        saccade.evaluate("cluttered60", scenes=Bars())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scenes": Bars(3)}, "scene.channels: 3: the network would have"),
        ({"scenes": Bars(), "other_scenes": {"scene.canvas": [9, 9]}}, "other_scenes: given together with scenes"),
        ({"test_scenes": Bars()}, "test_scenes: given without scenes"),
        ({"scenes": Bars(), "world": Bars}, "world: given together with scenes; allowed: one of the two"),
    ],
)
def test_what_an_agent_cannot_be_tested_on_is_refused(run, arguments, words):
    with pytest.raises(saccade.InputError) as error:
        saccade.evaluate(run, **arguments)
    assert words in str(error.value)


def test_a_study_has_the_bytes_of_its_runs_alone(tmp_path):
    seeds = {**CONFIG, "seeds": [1, 2]}
    study = saccade.study(seeds, scenes=Bars(), jobs=2, threads=2, out=tmp_path / "study")
    assert "scenes=<Bars>" in (study.runs[0].path / "command.txt").read_text()
    for seed, of_study in zip((1, 2), study.runs, strict=True):
        alone = saccade.train(CONFIG, scenes=Bars(), seed=seed, out=tmp_path / f"alone{seed}")
        assert_same_results(of_study.path, alone.path)


def test_a_study_names_what_its_scenes_raised(tmp_path):
    class Broken(Bars):
        def canvases(self, indices):
            if indices[0] >= 512 and indices[0] < 2**61:
                raise KeyError("scene 512")
            return super().canvases(indices)

    with pytest.raises(RuntimeError, match="scenes: a run was saved and stopped: .* failed") as error:
        saccade.study({**CONFIG, "seeds": [1, 2]}, scenes=Broken(), out=tmp_path / "study")
    assert isinstance(error.value.__cause__, KeyError)


def test_scenes_of_a_generator_serve_one_run_of_a_study_at_a_time(tmp_path):
    made = {"scenes": saccade.scenes.from_generator(stream, class_names=3)}
    made |= {name: Bars() for name in ("valid_scenes", "test_scenes")}
    with pytest.raises(saccade.InputError, match="jobs: 2; allowed with the scenes of a generator"):
        saccade.study({**CONFIG, "seeds": 2}, **made, jobs=2, out=tmp_path / "study")


def test_scenes_may_be_coloured_and_without_boxes(tmp_path):
    run = saccade.train(
        CONFIG, {"training.episodes": 256}, scenes=Bars(3, with_boxes=False), out=tmp_path / "run"
    )
    assert run.config["scene"]["channels"] == 3
    assert run.summary["attention/on_target"] == 0.0
    assert all(np.isfinite(v) for v in run.summary.values() if isinstance(v, float))


def test_the_channels_of_a_canvas_are_those_of_its_pixels(tmp_path):
    """An agent sees the same glimpses of a scene that it trains on and of a canvas it is shown."""

    class Red(Bars):
        def canvases(self, indices):
            canvases, labels, boxes = super().canvases(indices)
            canvases[..., 1:] = 0
            return canvases, labels, boxes

    seen = []

    def reward(probabilities, labels, facts):
        seen.append(probabilities.copy())
        return np.zeros(probabilities.shape[:2], np.float32)

    config = {
        **CONFIG,
        "training.episodes": 32,
        "training.batch_size": 32,
        "attention.glimpse.first": "center",
        "attention.glimpse.std": 1e-4,
    }
    run = saccade.train(config, scenes=Red(3), reward=reward, out=tmp_path / "run", threads=1)
    first = saccade.load(run.path / "checkpoints/previous.safetensors")
    shown = first.rollout(images=Red(3).canvases(np.arange(32))[0])
    np.testing.assert_allclose(shown.probabilities, np.swapaxes(seen[0], 0, 1), atol=1e-3)


def test_the_log_says_how_long_the_updates_waited(tmp_path, caplog):
    caplog.set_level(logging.INFO, "saccade")
    slow = Bars()
    wait = threading.Event()

    class Slow(Bars):
        def canvases(self, indices):
            wait.wait(0.2)
            return slow.canvases(indices)

    saccade.train(CONFIG, {"training.episodes": 512}, scenes=Slow(), out=tmp_path / "run")
    (line,) = [r.getMessage() for r in caplog.records if "own scenes" in r.getMessage()]
    assert float(line.split("waited for them ")[1].split(" %")[0]) > 50.0


# ---- Scenes of a number, and adapters


class Numbered(Bars):
    """60 scenes."""

    def __len__(self) -> int:
        return 60


def test_of_a_number_of_scenes_a_sixth_is_for_validation_and_a_sixth_for_the_test(tmp_path):
    scenes = Numbered()
    saccade.train(CONFIG, {"evaluation.scenes": 10}, scenes=scenes, out=tmp_path / "run")
    calls = [call for call in scenes.calls if len(call) > 2]
    parts = {tuple(sorted({int(n) for n in call})) for call in calls}
    sizes = sorted(len(part) for part in parts)
    assert sizes == [10, 10, 40]
    assert sorted(n for part in parts for n in part) == list(range(60))
    trained = np.concatenate([call for call in calls if len(call) == 128])
    first, second = trained[:40], trained[40:80]
    assert sorted(first) == sorted(second) and list(first) != list(second)


def test_other_scenes_may_be_for_validation_and_test(tmp_path):
    scenes, valid, test = Numbered(), Numbered(), Bars()
    saccade.train(
        CONFIG, scenes=scenes, valid_scenes=valid, test_scenes=test, out=tmp_path / "run"
    )
    assert {int(n) for call in scenes.calls for n in call} == set(range(60))
    assert {int(n) for call in valid.calls for n in call} == set(range(60))
    assert {int(n) for call in test.calls for n in call} == set(range(150))


def items(count: int = 60):
    canvases, labels, boxes = Bars().canvases(np.arange(count))
    return [(c[..., 0], int(k), b) for c, k, b in zip(canvases, labels, boxes)]


class ItemDataset:
    """As torch.utils.data.Dataset, with labels of one form and images of another."""

    classes = ["upright", "level", "a square"]

    def __init__(self, image=lambda x: x, label=lambda x: x) -> None:
        self._items = items()
        self._image, self._label = image, label

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index):
        image, label, boxes = self._items[index]
        return self._image(image), self._label(label), boxes


def test_the_same_scenes_give_the_same_bytes_whatever_they_are_made_of(tmp_path):
    canvases = np.stack([image for image, _, _ in items()])
    labels = [label for _, label, _ in items()]
    boxes = np.stack([box for _, _, box in items()])
    names = list(Bars.class_names)
    from_arrays, from_dataset = saccade.scenes.from_arrays, saccade.scenes.from_dataset
    made = {
        "array": from_arrays(canvases, labels, boxes, class_names=names),
        "list": from_arrays(list(canvases), np.array(labels), boxes[:, None], class_names=names),
        "floats": from_arrays(canvases / 255.0, [names[k] for k in labels], boxes, class_names=names),
        "dataset": from_dataset(ItemDataset()),
        "texts": from_dataset(ItemDataset(label=lambda k: names[k]), class_names=names),
    }
    torch = None
    try:
        import torch
    except ImportError:
        pass
    if torch is not None:
        made["tensors"] = from_dataset(
            ItemDataset(lambda x: torch.tensor(x[None] / 255.0), torch.tensor)
        )
    runs = {
        name: saccade.train(
            CONFIG, {"evaluation.scenes": 10}, scenes=scenes, out=tmp_path / name, threads=2
        )
        for name, scenes in made.items()
    }
    for run in runs.values():
        assert_same_results(run.path, runs["array"].path)


def test_pictures_of_pillow_are_scenes(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    pictures = [Image.fromarray(image) for image, _, _ in items()]
    scenes = saccade.scenes.from_arrays(pictures, [label for _, label, _ in items()])
    canvases, _, boxes = scenes.canvases(np.array([7, 3]))
    np.testing.assert_array_equal(canvases[..., 0], [items()[7][0], items()[3][0]])
    assert boxes is None


def stream(seed: int = 0):
    for number in itertools.count(10_000 * seed):
        canvases, labels, boxes = Bars().canvases(np.array([number]))
        yield canvases[0], labels[0], boxes[0]


def test_a_generator_is_passed_over_when_a_run_is_resumed(tmp_path):
    def train(out, **more):
        given = {
            name: saccade.scenes.from_generator(
                lambda seed=seed: stream(seed), class_names=Bars.class_names
            )
            for seed, name in enumerate(("scenes", "valid_scenes", "test_scenes"))
        }
        return saccade.train(CONFIG, {"training.episodes": 1536}, **given, out=tmp_path / out, **more)

    assert not train("stopped", callback=lambda row: True, threads=1).finished
    resumed = train("stopped", resume=True, threads=2)
    assert_same_results(resumed.path, train("whole").path)


def test_a_generator_that_ends_is_named(tmp_path):
    ends = saccade.scenes.from_generator(lambda: items(300), class_names=3)
    with pytest.raises(RuntimeError, match="scenes 256 to 383: ValueError: the generator ended after 300"):
        saccade.train(
            CONFIG, scenes=ends, valid_scenes=Bars(), test_scenes=Bars(), out=tmp_path / "run"
        )


# ---- What is refused


class Broken(Bars):
    """Gives something else from scene 512 on."""

    def __init__(self, change) -> None:
        super().__init__()
        self.change = change

    def canvases(self, indices):
        canvases, labels, boxes = super().canvases(indices)
        return self.change(canvases, labels, boxes) if 512 <= indices[0] < 2**60 else (canvases, labels, boxes)


def raising(*_):
    raise KeyError("no such file")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (raising, "KeyError: 'no such file'"),
        (lambda c, k, b: (c[:-1], k, b), "canvases: shape (127, 20, 24, 1); allowed: (128, 20, 24, 1)"),
        (lambda c, k, b: (c[:, 1:], k, b), "canvases: shape (128, 19, 24, 1); allowed"),
        (lambda c, k, b: (c / 255, k, b), "canvases: an array of float64; allowed: uint8"),
        (lambda c, k, b: (c * np.nan, k, b), "canvases: an array of float64; allowed: uint8"),
        (lambda c, k, b: (np.repeat(c, 3, 3), k, b), "canvases: shape (128, 20, 24, 3); allowed"),
        (lambda c, k, b: (c, k[1:], b), "labels: shape (127,); allowed: (128)"),
        (lambda c, k, b: (c, k + 1, b), "labels: 1 to 3; allowed: 0 to 2"),
        (lambda c, k, b: (c, k / 1.0, b), "labels: an array of float64; allowed: integers"),
        (lambda c, k, b: (c, k, b[1:]), "boxes: shape (127, 1, 4); allowed: (128, any, 4)"),
        (lambda c, k, b: (c, k, b / 2), "boxes: an array of float64; allowed: integers"),
        (lambda c, k, b: (c, k, b + [20, 0, 0, 0]), "; allowed: on the canvas, 24 x 20 pixels"),
        (lambda c, k, b: (c, k, np.repeat(b[:, None], 17, 1)), "17 for each; allowed"),
        (lambda c, k, b: c, "canvases() returned ndarray; allowed: (canvases, labels, boxes or None)"),
    ],
)
def test_scenes_that_fail_stop_the_training_saved(tmp_path, run, change, words):
    out = tmp_path / "run"
    with pytest.raises(RuntimeError) as raised:
        saccade.train(CONFIG, scenes=Broken(change), threads=2, out=out)
    message = str(raised.value)
    assert words in message and "training scenes 512 to 639: " in message
    assert "resume=True continues the run from " in message
    if change is raising:
        assert isinstance(raised.value.__cause__, KeyError)
    # Saved after the last update that had its scenes: a run that continues has the same bytes.
    again = saccade.train(CONFIG, scenes=Bars(), out=out, resume=True)
    assert_same_results(again.path, run.path)


def test_validation_scenes_that_fail_stop_the_training_saved(tmp_path, run):
    class Lost(Bars):
        def canvases(self, indices):
            if indices[0] >= 2**61 and len(indices) > 2:
                raise OSError("the disk is gone")
            return super().canvases(indices)

    with pytest.raises(RuntimeError, match="validation scenes .* OSError: the disk is gone") as raised:
        saccade.train(CONFIG, scenes=Lost(), out=tmp_path / "run")
    assert isinstance(raised.value.__cause__, OSError)
    again = saccade.train(CONFIG, scenes=Bars(), out=tmp_path / "run", resume=True)
    assert_same_results(again.path, run.path)


def test_arrays_that_are_not_contiguous_are_copied(tmp_path, run):
    class Strided(Bars):
        def canvases(self, indices):
            canvases, labels, boxes = super().canvases(indices)
            return np.asfortranarray(canvases), np.repeat(labels, 2)[::2], boxes[:, ::-1][:, ::-1]

    strided = saccade.train(CONFIG, scenes=Strided(), out=tmp_path / "run")
    assert_same_results(strided.path, run.path)


class Without:
    def __init__(self, **attributes) -> None:
        self.__dict__.update(attributes)

    def canvases(self, indices):
        return Bars().canvases(indices)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scenes": 3}, "scenes: int without a method canvases(indices); allowed: an object as"),
        ({"scenes": Without()}, "class_names: None; allowed: two names or more"),
        ({"scenes": Without(num_classes=1)}, "class_names: ['0']; allowed: two names or more"),
        ({"scenes": Without(num_classes=2)}, "labels: 0 to 2; allowed: 0 to 1"),
        ({"scenes": Without(class_names=["a", "a"])}, "allowed: a list of distinct names"),
        ({"valid_scenes": Bars()}, "valid_scenes: given without scenes"),
        ({"scenes": Bars(), "images": np.zeros((9, 8, 8))}, "scenes: given together with images"),
        ({"scenes": Bars(), "test_scenes": Bars(3)}, "canvases: shape (2, 20, 24, 3); allowed: (2, 20, 24, 1)"),
        ({"scenes": Bars(2)}, "canvases: 2 channels; allowed: 1 or 3"),
        (
            {"scenes": Bars(), "overrides": {"scene.canvas": [30, 30]}},
            "overrides: scene.canvas is given together with scenes; allowed: one of the two",
        ),
        (
            {"scenes": saccade.scenes.from_generator(stream, class_names=3)},
            "valid_scenes and test_scenes: None; allowed: other scenes",
        ),
        (
            {"scenes": saccade.scenes.from_arrays(np.zeros((5, 9, 9)), [0, 1, 0, 1, 0])},
            "scenes: 5; allowed: at least 6",
        ),
    ],
)
def test_what_cannot_be_trained_on_is_refused_before_there_is_a_run(tmp_path, arguments, words):
    overrides = arguments.pop("overrides", None)
    with pytest.raises(saccade.InputError) as error:
        saccade.train(CONFIG, overrides, **arguments, out=tmp_path / "run")
    assert words in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("use", [saccade.train, saccade.study])
@pytest.mark.parametrize(
    ("images", "words"),
    [
        ({"labels": [0, 1, 2]}, "images and labels: only one is given"),
        ({"test_images": np.zeros((3, 20, 24)), "test_labels": [0, 1, 2]}, "test_images: given without images"),
        ({"test_images": np.zeros((3, 20, 24))}, "test_images: given without images"),
        ({"test_labels": [0, 1, 2]}, "test_images and test_labels: only one is given"),
    ],
)
def test_images_and_labels_do_not_go_with_scenes(tmp_path, use, images, words):
    with pytest.raises(saccade.InputError) as error:
        use({**CONFIG, **({"seeds": 2} if use is saccade.study else {})}, scenes=Bars(), **images, out=tmp_path / "run")
    assert words in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: saccade.scenes.from_arrays(np.zeros((5, 9, 9))), "labels: None; allowed: one for each"),
        (lambda: saccade.scenes.from_dataset(iter([])), "dataset: list_iterator; allowed: one with a length"),
        (lambda: saccade.scenes.from_dataset([]), "class_names: None, and the dataset has no `classes`"),
        (lambda: saccade.scenes.from_generator(stream(), class_names=2), "make: generator; allowed: a function"),
    ],
)
def test_adapters_name_what_they_cannot_take(make, words):
    with pytest.raises(saccade.InputError) as error:
        make()
    assert words in str(error.value)
