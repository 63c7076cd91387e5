"""The arguments `images` and `labels` of runs, rollouts, recordings and environments."""

import numpy as np
import pytest
import saccade
from saccade._images import keep_images
from saccade._labelled import labelled
from training_support import SMALL

SCENE = {
    "scene.kind": "centered",
    "scene.canvas": [8, 8],
    "retina.patch_size": 4,
    "attention.glimpse.num_glimpses": 2,
}
IMAGE = np.zeros((8, 8), np.uint8)
PETS = ["cat", "dog", "owl"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def drawn(count=60, channels=1):
    images = np.random.default_rng(0).integers(0, 256, (count, 8, 8, channels), dtype=np.uint8)
    return images, np.arange(count) % 3


class Pairs:
    """A dataset like PyTorch's, with channels first."""

    def __init__(self, images, labels, classes=None):
        self.images, self.labels = images.transpose(0, 3, 1, 2), labels
        if classes is not None:
            self.classes = classes

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], int(self.labels[i])


class Batches:
    """A loader: an iterable without __getitem__, whose last batch is smaller."""

    def __init__(self, images, labels, size=7):
        self.pairs, self.size = Pairs(images, labels), size

    def __iter__(self):
        for i in range(0, len(self.pairs), self.size):
            part = slice(i, i + self.size)
            yield [self.pairs.images[part], self.pairs.labels[part]]


@pytest.mark.parametrize("channels", [1, 3])
def test_all_forms_give_the_same_images(channels):
    images, labels = drawn(channels=channels)
    squeezed = images[..., 0] if channels == 1 else images
    pairs = Pairs(images, labels)
    same = [
        (images, labels),
        (squeezed, list(labels)),
        (images.transpose(0, 3, 1, 2), labels),
        (images.transpose(0, 3, 1, 2) / 255.0, labels),
        (pairs, None),
        ([pairs[i] for i in range(60)], None),
        ((pairs[i] for i in range(60)), None),
        (Batches(images, labels), None),
        (Batches(images, labels, 1), None),
    ]
    for given, classes in same:
        pixels, numbers, names = labelled(given, classes)
        assert (pixels == images).all() and pixels.flags.c_contiguous
        assert (numbers == labels).all() and numbers.dtype == np.int64
        assert names == []


def test_the_channel_axis_is_found():
    for shape, rows, cols, channels in [
        ((2, 8, 9, 3), 8, 9, 3),
        ((2, 3, 8, 9), 8, 9, 3),
        ((2, 1, 8, 9), 8, 9, 1),
        ((2, 3, 9, 3), 3, 9, 3),  # ambiguous: the last axis is taken
        ((2, 3, 9), 3, 9, 1),
    ]:
        pixels, _, _ = labelled(np.zeros(shape, np.uint8), None)
        assert pixels.shape == (2, rows, cols, channels)


def test_names_of_classes():
    images, labels = drawn(6)
    words = [PETS[k] for k in labels]
    assert labelled(images, words)[2] == PETS
    assert (labelled(images, words)[1] == labels).all()
    assert labelled(images, np.array(words, object))[2] == PETS
    other = ["owl", "dog", "cat", "emu"]
    _, numbers, names = labelled(images, words, other)
    assert names == other and [other[k] for k in numbers] == words
    assert labelled(images, labels, PETS)[2] == PETS
    assert labelled(Pairs(images, labels, PETS), None)[2] == PETS
    assert labelled(Pairs(images, labels, PETS), None, other)[2] == other
    assert labelled(Pairs(images, labels, [0, 1, 2]), None)[2] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"images": Pairs(*drawn(6)), "labels": [1] * 6}, "labels: given, but images already include labels"),
        ({"images": {"a": 1}}, r"images: shape \(\); allowed: "),
        ({"images": {1, 2}}, r"images: shape \(2,\); allowed: "),
        ({"images": iter([(1, [2, 3])])}, "images: have different shapes"),
        ({"images": iter([(IMAGE, [[2]]), (IMAGE, 1)])}, "labels of images: have different shapes"),
        ({"images": iter([])}, "images: empty; allowed: one or more images"),
        ({"images": [(np.zeros((8, 8)), 1), (np.zeros((8, 9)), 1)]}, "images: have different shapes"),
        ({"images": iter([np.zeros((8, 8)), (np.zeros((8, 8)), 1)])}, "only some have labels"),
        ({"labels": ["cat"] * 6, "class_names": ["dog"]}, "labels: 'cat'; allowed: dog"),
        ({"labels": [3] * 6, "class_names": PETS}, "labels: 3 to 3; allowed: 0 to 2"),
        ({"labels": [1] * 6, "class_names": ["a", "a"]}, "class_names: .*; allowed: a list of"),
        ({"labels": [1] * 6, "class_names": "ab"}, "class_names: 'ab'; allowed: a list of distinct names"),
        ({"labels": [1] * 6, "class_names": [1, 2]}, "class_names: .*; allowed: a list of distinct names"),
        ({"labels": ["a", 1, None] * 2}, "labels: an array of"),
    ],
)
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises(saccade.InputError, match=message):
        labelled(**{"images": drawn(6)[0], "labels": None, **arguments})


def test_class_names_without_images():
    for call in (
        lambda: saccade.train("quickstart", class_names=PETS),
        lambda: saccade.envs.GlimpseEnv(class_names=PETS),
    ):
        with pytest.raises(saccade.InputError, match="class_names: (given )?without images"):
            call()


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c\nd"], ["a", "", "c"]])
def test_invalid_class_names_are_refused(names):
    with pytest.raises(saccade.InputError, match="class_names: |labels: 0 to 2; allowed: 0 to 1"):
        keep_images(*drawn(), class_names=names)


def test_a_run_keeps_the_class_names(tmp_path):
    """Its agent, another process that reads the folder, and the test set have them, too."""
    images, labels = drawn(120)
    words = np.array([PETS[k] for k in labels])
    run = saccade.train(
        {**SMALL, **SCENE},
        images=images.transpose(0, 3, 1, 2),
        labels=words,
        seed=5,
        test_images=images[:30],
        test_labels=words[:30],
        out=tmp_path / "run",
    )
    assert run.config["seed"] == 5
    agent = run.agent()
    assert agent.class_names == PETS
    by_name = agent.rollout(images[:9], labels=words[:9])
    by_number = agent.rollout(Pairs(images[:9], labels[:9]))
    for name in by_number:
        np.testing.assert_array_equal(by_name[name], by_number[name])
    assert by_name.labels.tolist() == labels[:9].tolist()
    with pytest.raises(saccade.InputError, match="labels: 'emu'; allowed: cat, dog, owl"):
        agent.rollout(images[:1], labels=["emu"])
    saccade.record(run, Batches(images[:4], labels[:4])).save(tmp_path / "a.png")
    assert "owl" in by_name._repr_html_()


def test_class_names_may_exceed_the_classes_present(tmp_path):
    images, labels = drawn()
    names = [*PETS, "emu"]
    run = saccade.train(
        {**SMALL, **SCENE}, images=Pairs(images, labels, names), out=tmp_path / "run"
    )
    assert run.agent().class_names == names
    assert "images=<Pairs>" in (run.path / "command.txt").read_text()
    env = saccade.envs.GlimpseEnv("Centered28", images=Batches(images, labels), class_names=names)
    assert env.class_names == names and env.action_space["answer"].n == 4


def test_the_file_of_names_is_checked(tmp_path):
    folder = keep_images(*drawn(), class_names=PETS)
    file = folder / "classes.txt"
    assert file.read_text() == "cat\ndog\nowl\n"
    for text, message in [
        ("cat\ndog\n", "2 names of classes; needed: 3"),
        ("cat\ncat\nowl\n", "'cat'; allowed: names that differ"),
        ("x" * 2_000_000, "2000000 bytes; allowed: at most 1000000"),
    ]:
        file.write_text(text)
        with pytest.raises(saccade.InputError, match=message):
            saccade.train({**SMALL, **SCENE, "data": {"source": "idx", "path": str(folder)}})


def test_torch(tmp_path):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch.utils.data")
    images, labels = drawn()
    tensors = torch.tensor(images.transpose(0, 3, 1, 2)).float() / 255
    dataset = data.TensorDataset(tensors, torch.tensor(labels))
    for given in (
        (tensors.requires_grad_(), torch.tensor(labels)),
        (dataset, None),
        (data.DataLoader(dataset, batch_size=16), None),
        (data.Subset(dataset, range(60)), None),
    ):
        pixels, numbers, _ = labelled(*given)
        assert (pixels == images).all() and (numbers == labels).all()
