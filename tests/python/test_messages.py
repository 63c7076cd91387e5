"""Messages name Python's arguments, not command-line options."""

import json
import logging
import re

import numpy as np
import pytest
import saccade
from training_support import SMALL

OPTION = re.compile(r"(?<![\w-])--[a-z]")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messages")
    return saccade.train("quickstart", {**SMALL, "data.source": "synthetic"}, out=folder / "run")


def test_messages_name_arguments(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SACCADE_DATA", raising=False)
    agent = saccade.load(run)
    agent.export(npz=tmp_path / "a.npz")
    saccade.compare(run, out=tmp_path / "comparison")
    saccade.record(agent, scenes=1).save(tmp_path / "a.png")
    agent.save(tmp_path / "a.safetensors")
    other = {**SMALL, "data.source": "synthetic", "model.hidden_size": 17}
    published = tmp_path / "mnist"
    published.mkdir()
    (published / "train-images-idx3-ubyte.gz").write_bytes(b"another")

    def export(**what):
        return lambda: agent.export(**what)

    def save(name, **how):
        return lambda: saccade.record(agent, **how).save(tmp_path / name)

    refused = [
        ("resume=True continues it", lambda: saccade.train("quickstart", SMALL, out=run.path)),
        (
            "another name or out= keeps both",
            lambda: saccade.train("quickstart", other, out=run.path, resume=True),
        ),
        (
            "force=True writes over it, out= names another folder",
            lambda: saccade.compare(run, out=tmp_path / "comparison"),
        ),
        ("force=True writes over it, another path keeps it", save("a.png", scenes=1)),
        ("fps: 0; allowed: ", save("b.gif", fps=0)),
        ("scenes=90000: a sheet of", save("b.png", scenes=90_000)),
        ("unknown suffix", save("b.bmp")),
        (
            "force=True writes over it, another path keeps it",
            lambda: agent.save(tmp_path / "a.safetensors"),
        ),
        ("force=True writes over it, or name another", export(npz=tmp_path / "a.npz")),
        ("nothing to write; allowed: npz=FILE, onnx=FILE, agent=DIR", export()),
        ("unrolled: has no effect without", export(npz=tmp_path / "c.npz", unrolled=True)),
        ("unrolled: has no effect without onnx", export(web=tmp_path / "page", unrolled=True)),
        ("half: has no effect without agent", export(npz=tmp_path / "c.npz", half=True)),
        ("npz=.*: unknown suffix", export(npz=tmp_path / "c.zip")),
        (
            "force=True replaces it",
            lambda: saccade.data.download("mnist", published),
        ),
        ("mirror.*http", lambda: saccade.data.download("mnist", published, mirror="ftp://a")),
        (
            r'saccade\.data\.download\("mnist"\) downloads them',
            lambda: saccade.train("quickstart", {"data.source": "mnist"}),
        ),
        ("step 9", lambda: agent.saliency(np.zeros((1, *agent.canvas[:2]), np.uint8), step=9)),
        ("episodes: 0; allowed", lambda: saccade.evaluate(run, 0)),
    ]
    for words, call in refused:
        with pytest.raises(saccade.InputError) as caught:
            call()
        message = str(caught.value)
        assert re.search(words, message), message
        assert not OPTION.search(message), message


def test_notes_name_arguments(tmp_path, caplog):
    """The log of a run that its callback stops, and of the resumed run."""
    settings = {**SMALL, "data.source": "synthetic"}
    with caplog.at_level(logging.INFO, logger="saccade"):
        for again in (False, True):
            saccade.train(
                "quickstart", settings, out=tmp_path / "run", resume=again, callback=lambda row: True
            )
    assert caplog.messages
    assert not any(OPTION.search(message) for message in caplog.messages)


def test_a_loss_that_is_not_finite(run, tmp_path):
    agent = saccade.load(run)
    huge = {name: np.full(array.shape, 3e38) for name, array in agent.parameters.items()}
    start = agent.with_parameters(huge).save(tmp_path / "huge.safetensors")
    settings = {**SMALL, "data.source": "synthetic", "init_from": start}
    with pytest.raises(RuntimeError) as caught:
        saccade.train("quickstart", settings, out=tmp_path / "run")
    assert "resume=True would meet the same again" in str(caught.value)
    assert "out=DIR" in str(caught.value)
    assert not OPTION.search(str(caught.value))


def test_paths_keep_their_dashes(tmp_path):
    """Dashes in a user's path are not an option."""
    path = tmp_path / "a--force" / "b.safetensors"
    with pytest.raises(saccade.InputError, match=re.escape(json.dumps(str(path)).strip('"'))):
        saccade.load(path)
