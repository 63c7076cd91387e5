"""saccade.Training: what a callback may do with the training that waits for it."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import numpy as np
import pytest
import saccade
from training_support import SMALL, assert_same_results


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> saccade.Run:
    """The small run, uninterrupted."""
    return saccade.train("quickstart", SMALL, out=tmp_path_factory.mktemp("whole") / "run")


def test_a_second_argument_is_the_training(tmp_path, whole):
    seen = []

    def callback(row, training):
        assert isinstance(training, saccade.Training)
        seen.append((row["episodes"], training.episodes, training.folder))
        assert training.checkpoint() == training.folder / "checkpoints/last.safetensors"

    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=callback)
    assert seen == [(n, n, run.path) for n in (512, 1024, 1536, 2048)]
    assert_same_results(run.path, whole.path)


class Counts:
    def __init__(self) -> None:
        self.given: list[tuple] = []

    def __call__(self, row, *more):
        self.given.append(more)

    def method(self, row, training):
        self.given.append((training,))

    def with_default(self, row, kept=None):
        self.given.append((kept,))


def test_an_argument_with_a_default_value_is_left_alone(tmp_path):
    once = {**SMALL, "training.episodes": 512}
    counts = Counts()
    saccade.train("quickstart", once, out=tmp_path / "a", callback=counts)
    saccade.train("quickstart", once, out=tmp_path / "b", callback=counts.with_default)
    assert counts.given == [(), (None,)]
    saccade.train("quickstart", once, out=tmp_path / "c", callback=counts.method)
    assert isinstance(counts.given[2][0], saccade.Training)
    rows: list[dict] = []
    saccade.train("quickstart", once, out=tmp_path / "d", callback=rows.append)
    assert [row["episodes"] for row in rows] == [512]


@pytest.mark.parametrize("callback", [lambda: None, lambda row, training, more: None])
def test_a_callback_of_other_arguments_is_refused(tmp_path, callback):
    with pytest.raises(saccade.InputError, match=r"^callback: a function of \(.*\); allowed: of \(row\)"):
        saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=callback)
    assert not (tmp_path / "run").exists()


def test_the_training_cannot_be_used_after_its_callback(tmp_path):
    kept = []
    saccade.train(
        "quickstart", SMALL, out=tmp_path / "run", callback=lambda row, training: kept.append(training)
    )
    training = kept[0]
    assert (training.folder, training.episodes) == (tmp_path / "run", 512)
    assert repr(training) == f"Training('{tmp_path / 'run'}', 512 episodes)"

    def set_factor() -> None:
        training.learning_rate_factor = 0.5

    uses = (
        training.agent,
        training.checkpoint,
        lambda: training.learning_rate,
        lambda: training.learning_rate_factor,
        set_factor,
    )
    for use in uses:
        with pytest.raises(saccade.InputError, match="^training: used after the callback"):
            use()


def test_the_training_cannot_be_used_after_a_callback_that_raised(tmp_path):
    kept = []

    def callback(row, training):
        kept.append(training)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=callback)
    with pytest.raises(saccade.InputError, match="used after the callback"):
        kept[0].checkpoint()


# ---- The agent ----


def test_the_agent_at_a_row_is_that_of_the_checkpoint(tmp_path, whole):
    agents = {}

    def callback(row, training):
        agents[training.episodes] = training.agent(threads=1)
        agents[training.episodes].rollout(scenes=5)

    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=callback)
    assert_same_results(run.path, whole.path)
    last = saccade.load(run.path / "checkpoints/last.safetensors")
    for name, weights in last.parameters.items():
        np.testing.assert_array_equal(agents[2048].parameters[name], weights)
    before, after = agents[512].rollout(scenes=50), agents[2048].rollout(scenes=50)
    assert not np.array_equal(before.probabilities, after.probabilities)
    np.testing.assert_array_equal(after.probabilities, last.rollout(scenes=50).probabilities)


def test_the_agent_is_no_file_until_it_is_saved(tmp_path):
    kept = []
    saccade.train(
        "quickstart", SMALL, out=tmp_path / "run",
        callback=lambda row, training: kept.append(training.agent()) or True,
    )
    agent = kept[0]
    assert agent.path == str(tmp_path / "run")
    with pytest.raises(saccade.InputError, match="save"):
        saccade.evaluate(agent)
    file = agent.save(tmp_path / "agent.safetensors")
    assert 0 <= saccade.evaluate(file, episodes=20)["test/error"] <= 1


def test_another_thread_uses_the_agent_while_the_training_goes_on(tmp_path, whole):
    looks, threads = [], []

    def callback(row, training):
        agent = training.agent(threads=1)
        threads.append(threading.Thread(target=lambda: looks.append(agent.rollout(scenes=20))))
        threads[-1].start()

    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=callback)
    for thread in threads:
        thread.join()
    assert len(looks) == 4
    assert_same_results(run.path, whole.path)


def test_an_agent_that_cannot_be_made_stops_the_training(tmp_path, whole):
    with pytest.raises(saccade.InputError, match="^threads: -1; allowed: "):
        saccade.train(
            "quickstart", SMALL, out=tmp_path / "run",
            callback=lambda row, training: training.agent(threads=-1),
        )
    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", resume=True)
    assert_same_results(run.path, whole.path)


# ---- The learning rate ----


def halving(row, training):
    if training.episodes == 1024:
        before = training.learning_rate
        training.learning_rate_factor *= 0.5
        assert training.learning_rate == pytest.approx(before / 2)


def test_the_factor_on_the_learning_rate_outlives_a_stop(tmp_path, whole, caplog):
    halved = saccade.train("quickstart", SMALL, out=tmp_path / "halved", callback=halving)
    rates, plain = (run.metrics["train/learning_rate"] for run in (halved, whole))
    assert rates == pytest.approx([plain[0], plain[1], plain[2] / 2, plain[3] / 2])

    def stopping(row, training):
        halving(row, training)
        return training.episodes == 1536

    saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=stopping)
    with caplog.at_level(logging.INFO, logger="saccade"):
        run = saccade.train("quickstart", SMALL, out=tmp_path / "run", resume=True)
    assert "continues with 0.5 times the learning rate of its schedule" in caplog.text
    assert_same_results(run.path, halved.path)


@pytest.mark.parametrize(
    ("factor", "allowed"),
    [(-1, "0 to 1000000"), (1e7, "0 to 1000000"), (float("nan"), "a finite"), ("half", "a number")],
)
def test_an_invalid_factor_is_refused(tmp_path, factor, allowed):
    def callback(row, training):
        training.learning_rate_factor = factor

    with pytest.raises(saccade.InputError, match=f"^learning_rate_factor: .*; allowed: {allowed}"):
        saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=callback)


# ---- Checkpoints ----


def test_a_checkpoint_survives_what_follows(tmp_path, whole):
    """A run that ended without saving, right after its callback had saved."""
    out, kept = tmp_path / "run", {}

    def callback(row, training):
        if training.episodes == 1536:
            kept["last"] = training.checkpoint().read_bytes()

    saccade.train("quickstart", SMALL, out=out, callback=callback)
    (out / "checkpoints/last.safetensors").write_bytes(kept["last"])
    (out / "summary.json").unlink()
    rows: list[dict] = []
    run = saccade.train("quickstart", SMALL, out=out, resume=True, callback=rows.append)
    assert [row["episodes"] for row in rows] == [2048]
    assert_same_results(run.path, whole.path)


def test_log_snapshots_keeps_every_evaluation(tmp_path, whole):
    assert whole.snapshots == {}
    run = saccade.train("quickstart", {**SMALL, "log.snapshots": True}, out=tmp_path / "run")
    folder = run.path / "snapshots"
    assert run.snapshots == {
        episodes: folder / f"episodes-{episodes}.safetensors" for episodes in (1024, 2048)
    }
    assert list(run.snapshots) == [1024, 2048]
    best = saccade.load(run.snapshots[run.summary["best_episodes"]])
    for name, weights in run.agent().parameters.items():
        np.testing.assert_array_equal(best.parameters[name], weights)
    assert saccade.evaluate(run.snapshots[1024], episodes=20)["test/scenes"] == 20


# ---- Studies ----


def test_a_studys_callback_gets_the_training_third(tmp_path):
    seen: list[tuple[Path, int]] = []

    def callback(row, folder, training):
        assert folder == training.folder
        training.agent(threads=1)
        seen.append((folder, training.episodes))

    study = saccade.study("quickstart", {**SMALL, "seeds": 2}, out=tmp_path / "s", callback=callback)
    assert sorted(seen) == [
        (run.path, episodes) for run in study.runs for episodes in (512, 1024, 1536, 2048)
    ]
    with pytest.raises(saccade.InputError, match=r"allowed: of \(row, folder\) or \(row, folder, "):
        saccade.study("quickstart", {**SMALL, "seeds": 2}, out=tmp_path / "t", callback=lambda row: 0)
