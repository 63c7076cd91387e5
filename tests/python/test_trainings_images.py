"""Own images as arrays: stored as files that every command reads."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import saccade
from saccade._images import keep_images
from training_support import SMALL, assert_same_results

TINY = {
    "scene.kind": "centered",
    "scene.canvas": [8, 8],
    "scene.num_distractors": 0,
    "retina.patch_size": 4,
    "attention.glimpse.num_glimpses": 2,
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "saccade" / "arrays"


def drawn(count: int = 60, channels: int = 1, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Images (N, 8, 8, channels), each with its number in its first pixels, and 3 classes."""
    generator = np.random.default_rng(first)
    images = generator.integers(0, 256, (count, 8, 8, channels), dtype=np.uint8)
    numbers = first + np.arange(count)
    images[:, 0, 0, 0], images[:, 0, 1, 0] = numbers // 256, numbers % 256
    return images, numbers % 3


def read_idx(file: Path) -> np.ndarray:
    """Reads an IDX file by its specification: type, dimensions, values."""
    content = file.read_bytes()
    assert content[:3] == b"\0\0\x08"
    sides = content[3]
    shape = np.frombuffer(content, ">u4", sides, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * sides).reshape(shape)


def numbers_in(images: np.ndarray) -> list[int]:
    flat = images.reshape(*images.shape[:3], -1).astype(int)
    return (256 * flat[:, 0, 0, 0] + flat[:, 0, 1, 0]).tolist()


def parts(folder: Path) -> list[np.ndarray]:
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    return [read_idx(folder / f"{name}-ubyte") for name in names]


@pytest.mark.parametrize("channels", [1, 3])
def test_images_are_stored_shuffled_with_a_sixth_for_the_test(cache, channels):
    images, labels = drawn(600, channels)
    folder = keep_images(images, labels)
    assert folder.parent == cache and sorted(os.listdir(cache)) == [folder.name]
    train, train_labels, test, test_labels = parts(folder)
    assert train.shape == (500, 8, 8) + (() if channels == 1 else (3,))
    assert len(test) == 100
    order = numbers_in(train) + numbers_in(test)
    assert sorted(order) == list(range(600)) and order != sorted(order)
    assert [n % 3 for n in order] == [*train_labels, *test_labels]
    squeezed = images if channels == 3 else images[..., 0]
    assert (np.concatenate([train, test]) == squeezed[order]).all()
    # The end, which is used for validation and test, has images from every part.
    assert np.std(order[-200:]) > 100


def test_an_own_test_set_keeps_its_order(cache):
    test_images, test_labels = drawn(40, first=1000)
    folder = keep_images(*drawn(60), test_images, test_labels)
    train, _, test, kept_labels = parts(folder)
    assert sorted(numbers_in(train)) == list(range(60)) and numbers_in(train) != list(range(60))
    assert numbers_in(test) == list(range(1000, 1040))
    assert kept_labels.tolist() == test_labels.tolist()
    assert keep_images(*drawn(60)) != folder


def test_the_same_arrays_are_stored_once(cache):
    images, labels = drawn()
    folder = keep_images(images, labels)
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    as_floats = images.astype(np.float32) / 255
    for same in (images.copy(), images[..., 0], as_floats, np.asfortranarray(images)):
        assert keep_images(same, labels.astype(np.uint8)) == folder
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before
    assert keep_images(images, (labels + 1) % 3) != folder
    assert keep_images(images.reshape(60, 4, 16), labels) != folder
    assert len(list(cache.iterdir())) == 3


def test_two_threads_can_store_the_same_arrays(cache):
    images, labels = drawn(300)
    with ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(lambda _: keep_images(images, labels), range(16)))
    assert len(set(folders)) == 1 and list(cache.iterdir()) == [folders[0]]


def test_every_command_reads_a_run_on_arrays(program, tmp_path, cache):
    images, labels = drawn(120, channels=3)
    config = {**SMALL, **TINY, "name": "mine"}
    run = saccade.train(config, images=images, labels=labels, out=tmp_path / "run")
    (folder,) = cache.iterdir()
    assert run.config["data"]["source"] == "idx" and run.config["data"]["path"] == str(folder)
    assert "images=<uint8 (120, 8, 8, 3)>" in (run.path / "command.txt").read_text()
    figures = saccade.evaluate(run)
    assert figures["test/error"] == run.summary["test/error"]

    stopped = saccade.train(
        config, images=images, labels=labels, out=tmp_path / "two", callback=lambda row: True
    )
    again = saccade.train(config, images=images, labels=labels, out=stopped.path, resume=True)
    assert_same_results(again.path, run.path)
    assert len(saccade.compare(run, again, out=tmp_path / "c").to_dict()["variants"]) == 1

    done = subprocess.run(
        [program, "eval", str(run.path), "--json"], check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout) == figures


def test_a_study_on_arrays(tmp_path, cache):
    images, labels = drawn(120)
    config = {**SMALL, **TINY, "name": "mine", "seeds": 2}
    study = saccade.study(config, images=images, labels=labels, out=tmp_path / "study")
    (folder,) = cache.iterdir()
    assert [run.config["data"]["path"] for run in study.runs] == [str(folder)] * 2
    assert [run.path.parent.name for run in study.runs] == ["base", "base"]


IMAGES, LABELS = drawn()
TEST = {"test_images": IMAGES, "test_labels": LABELS}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": None}, "images and labels: only one is given"),
        ({"images": None, "labels": None, **TEST}, "test_images: given without images"),
        ({"test_labels": LABELS}, "test_images and test_labels"),
        ({"images": IMAGES.astype(int)}, "images: an array of int64; allowed: uint8"),
        ({"images": IMAGES / 1.0}, "images: 0.0 to 255.0; allowed: 0.0 to 1.0"),
        ({"images": IMAGES * np.nan}, "images: contains a number that is not finite"),
        ({"images": IMAGES[0, 0]}, "images: shape (8, 1); allowed: (N, rows, cols)"),
        ({"images": IMAGES[:0], "labels": LABELS[:0]}, "images: shape (0, 8, 8, 1)"),
        ({"images": np.zeros((9, 8, 8, 2), np.uint8)}, "images: shape (9, 8, 8, 2)"),
        ({"labels": LABELS[:9]}, "labels: shape (9,); allowed: (60)"),
        ({"labels": LABELS / 1.0}, "labels: an array of float64; allowed: integers"),
        ({"labels": LABELS - 1}, "labels: -1 to 1; allowed: 0 to"),
        ({"labels": LABELS * 2}, "labels: 4 is the largest, but no image is of class 1"),
        ({"labels": LABELS + 1}, "but no image is of class 0; allowed: 0 to C - 1"),
        (
            {"images": np.zeros((300, 8, 8), np.uint8), "labels": np.arange(300)},
            "; allowed in an IDX file: 0 to 255",
        ),
        ({"images": IMAGES[:6], "labels": LABELS[:6]}, "images: 6; allowed: at least 6 for training"),
        (
            {**TEST, "test_images": IMAGES[:, :4]},
            "test_images: of 4 x 8 x 1, but images of 8 x 8 x 1",
        ),
        (
            {**TEST, "test_labels": LABELS + 1},
            "test_labels: 3; allowed: 0 to 2, the classes of labels",
        ),
    ],
)
def test_invalid_arrays_are_refused(tmp_path, cache, changes, words):
    arrays = {"images": IMAGES, "labels": LABELS, **changes}
    with pytest.raises(saccade.InputError) as error:
        saccade.train({**SMALL, **TINY}, **arrays, out=tmp_path / "run")
    assert words in str(error.value)
    assert not (tmp_path / "run").exists()
    assert not cache.exists() or list(cache.iterdir()) == []


def test_images_together_with_other_data_are_refused(tmp_path):
    with pytest.raises(saccade.InputError, match="data.source is given together with images; allowed: one of"):
        saccade.train(
            TINY, {"data.source": "mnist"}, images=IMAGES, labels=LABELS, out=tmp_path / "run"
        )


def test_an_unwritable_cache_folder_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(saccade.InputError, match="cannot be made; XDG_CACHE_HOME names another"):
        keep_images(IMAGES, LABELS)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    with pytest.raises(saccade.InputError, match="images: no folder to keep them in"):
        keep_images(IMAGES, LABELS)
