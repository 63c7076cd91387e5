"""saccade.train: the bytes of the command line, callbacks, stops, output."""

from __future__ import annotations

import csv
import json
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import saccade
from training_support import SMALL, SOURCES, as_words, assert_same_results, results


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> saccade.Run:
    """The small run, uninterrupted."""
    return saccade.train("quickstart", SMALL, out=tmp_path_factory.mktemp("whole") / "run")


class Enough(Exception):
    pass


def stop_at(episodes: int):
    return lambda row: row["episodes"] >= episodes


# ---- Bytes ----


def test_a_run_has_the_bytes_of_the_command_line(program, tmp_path, whole):
    yaml = SOURCES / "experiments" / "quickstart.yaml"
    command = [program, "run", str(yaml), *as_words(SMALL), "--quiet", "--threads", "1"]
    subprocess.run([*command, "--out", str(tmp_path / "run")], check=True)
    assert_same_results(tmp_path / "run", whole.path)


def test_another_seed_gives_other_bytes(tmp_path, whole):
    other = saccade.train("quickstart", {**SMALL, "seed": 2}, out=tmp_path / "run")
    assert results(other.path)["last"] != results(whole.path)["last"]


@pytest.mark.parametrize("config", ["experiments/quickstart.yaml", "config", "nested"])
def test_a_configuration_is_a_file_a_preset_or_a_dict(tmp_path, whole, config):
    out = tmp_path / "run"
    if config == "config":
        run = saccade.train(whole.config, out=out)
    elif config == "nested":
        nested: dict = {"log": {"every": 512}, "evaluation": {"every": 1024, "scenes": 50}}
        rest = {key: value for key, value in SMALL.items() if not key.startswith(("log.", "eval"))}
        run = saccade.train("quickstart", {**nested, **rest, "evaluation.rollouts": 2}, out=out)
    else:
        run = saccade.train(config, SMALL, out=out)
    assert_same_results(run.path, whole.path)


def test_runs_in_two_threads_are_independent(tmp_path, whole):
    soft = {**SMALL, "attention.glimpse.kind": "soft_grid", "seed": 3}
    alone = saccade.train("quickstart", soft, out=tmp_path / "alone")
    meet = threading.Barrier(2, timeout=300)  # at each row, so that they overlap

    def train(overrides: dict, name: str, threads: int) -> saccade.Run:
        def callback(row):
            meet.wait()

        out = tmp_path / name
        return saccade.train("quickstart", overrides, out=out, threads=threads, callback=callback)

    with ThreadPoolExecutor(2) as pool:
        hard_run = pool.submit(train, SMALL, "hard", 1)
        soft_run = pool.submit(train, soft, "soft", 2)
        assert_same_results(hard_run.result().path, whole.path)
        assert_same_results(soft_run.result().path, alone.path)


# ---- The callback ----


def test_the_callback_gets_the_rows_of_metrics_csv_on_the_calling_thread(tmp_path):
    rows, threads = [], set()

    def callback(row):
        rows.append(row)
        threads.add(threading.current_thread())

    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=callback)
    assert threads == {threading.current_thread()}
    with open(run.path / "metrics.csv") as file:
        written = list(csv.DictReader(file))
    assert [row["episodes"] for row in rows] == [512, 1024, 1536, 2048]
    assert "valid/error" not in rows[0] and 0 <= rows[1]["valid/error"] <= 1
    for row, cells in zip(rows, written, strict=True):
        assert {k: f"{v:.8g}" for k, v in row.items()} == {k: v for k, v in cells.items() if v}
    assert list(rows[1]) == [name for name in written[1] if written[1][name]]


def test_a_callback_that_returns_true_stops_and_resume_gives_the_same_bytes(tmp_path, whole):
    out = tmp_path / "run"
    run = saccade.train("quickstart", SMALL, out=out, callback=stop_at(512))
    assert not run.finished and run.metrics["episodes"] == [512] and run.summary == {}
    run = saccade.train("quickstart", SMALL, out=out, resume=True, callback=stop_at(1536))
    assert not run.finished and run.metrics["episodes"] == [512, 1024, 1536]
    run = saccade.train("quickstart", SMALL, out=out, resume=True)
    assert run.finished
    assert_same_results(run.path, whole.path)


def test_a_run_stopped_at_its_last_row_still_needs_its_test(tmp_path, whole):
    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=stop_at(2048))
    assert not run.finished and run.metrics["episodes"][-1] == 2048
    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", resume=True)
    assert run.finished
    assert_same_results(run.path, whole.path)


@pytest.mark.parametrize("answer", [None, 0, 1, "stop", [True]])
def test_only_true_stops(tmp_path, answer):
    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=lambda row: answer)
    assert run.finished


def test_a_callbacks_exception_propagates_and_resume_gives_the_same_bytes(tmp_path, whole):
    out, error, calls = tmp_path / "run", Enough("at 1024"), []

    def callback(row):
        calls.append(row["episodes"])
        if row["episodes"] == 1024:
            raise error

    with pytest.raises(Enough) as caught:
        saccade.train("quickstart", SMALL, out=out, callback=callback)
    assert caught.value is error
    assert caught.traceback[-1].name == "callback"
    assert calls == [512, 1024]
    assert saccade.Run(out).metrics["episodes"] == [512, 1024]
    run = saccade.train("quickstart", SMALL, out=out, resume=True)
    assert_same_results(run.path, whole.path)


def test_a_callback_can_train(tmp_path, whole):
    inner = []

    def callback(row):
        out = tmp_path / f"inner-{row['episodes']}"
        inner.append(saccade.train("quickstart", SMALL, out=out))

    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", callback=callback)
    for one in [run, *inner]:
        assert_same_results(one.path, whole.path)


# ---- Ctrl-C ----

CHILD = """
import signal, sys, time, saccade

signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests' parent may ignore it

def callback(row):
    print("row", flush=True)
    {then}

try:
    saccade.train("quickstart", {overrides}, out=sys.argv[1], callback=callback)
except KeyboardInterrupt:
    print("interrupted", saccade.Run(sys.argv[1]).finished, flush=True)
"""


# Several short sleeps: a signal just before the system call would not end a long one.
WAIT = "while True: time.sleep(0.05)"


def interrupted(tmp_path: Path, overrides: dict, then: str) -> list[str]:
    """The output of a run that gets SIGINT after its first row."""
    script = textwrap.dedent(CHILD).format(overrides=overrides, then=then)
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "row\n"
    child.send_signal(signal.SIGINT)
    rest = child.stdout.read().split("\n")
    assert child.wait() == 0
    return rest


def test_ctrl_c_during_computation_leaves_a_resumable_run(tmp_path):
    endless = {**SMALL, "training.episodes": 4 * 10**9, "log.every": 4096}
    endless["evaluation.every"] = 4 * 10**9
    rest = interrupted(tmp_path, endless, "pass")
    assert rest[-2] == "interrupted False"
    before = saccade.Run(tmp_path / "run").metrics["episodes"]
    run = saccade.train(
        "quickstart", endless, out=tmp_path / "run", resume=True, callback=lambda row: True
    )
    after = run.metrics["episodes"]
    assert after == [4096 * (i + 1) for i in range(len(after))] and len(after) == len(before) + 1


def test_ctrl_c_in_the_callback_leaves_a_run_that_resumes_to_the_same_bytes(tmp_path, whole):
    rest = interrupted(tmp_path, SMALL, WAIT)
    assert rest == ["interrupted False", ""]
    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", resume=True)
    assert_same_results(run.path, whole.path)


# ---- Output ----


def test_nothing_is_printed_by_default_and_notes_go_to_the_log(tmp_path, capfd, caplog):
    with caplog.at_level(logging.INFO, logger="saccade"):
        run = saccade.train("quickstart", SMALL, out=tmp_path / "run")
        saccade.evaluate(run, 50)
        saccade.compare(run, out=tmp_path / "comparison")
    assert capfd.readouterr() == ("", "")
    assert {record.name for record in caplog.records} == {"saccade"}
    assert "parameters" in caplog.text and "single deterministic pass" in caplog.text


def test_progress_shows_a_bar(tmp_path, capfd):
    pytest.importorskip("tqdm")
    saccade.train("quickstart", SMALL, out=tmp_path / "run", progress=True)
    out, bar = capfd.readouterr()
    assert out == "" and "100%" in bar and "2.05k/2.05k" in bar and "error" in bar


def test_the_default_folder_and_the_recorded_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    overrides = {
        "training.episodes": 256,
        "training.batch_size": 128,
        "evaluation.scenes": 20,
        "attention.glimpse.std": {"from": 0.3, "to": 0.1},
        "seed": 7,
    }
    run = saccade.train("quickstart", overrides)
    variant = (
        "glimpse.std=0.3-0.1-1,training.episodes=256,training.batch_size=128,evaluation.scenes=20"
    )
    assert run.path == Path("runs/quickstart") / variant / "seed-7"
    assert (run.path / "command.txt").read_text() == f"saccade.train('quickstart', {overrides!r})\n"
    assert run.config["attention"]["glimpse"]["std"] == {"from": 0.3, "to": 0.1, "over": 1.0}


def test_a_run_reads_its_folder(whole):
    assert whole.finished and whole == saccade.Run(str(whole.path)) and Path(whole) == whole.path
    assert whole.summary == json.loads((whole.path / "summary.json").read_text())
    assert whole.test == json.loads((whole.path / "test.json").read_text())
    assert whole.config["training"]["episodes"] == 2048
    assert whole.config["scene"]["canvas"] == [40, 40]
    assert whole.config["data"]["path"] is None
    assert repr(whole) == f"Run('{whole.path}', test/error {whole.summary['test/error']:.4f})"
    metrics = whole.metrics
    assert metrics["episodes"] == [512, 1024, 1536, 2048]
    assert metrics["valid/error"][0] != metrics["valid/error"][0]  # NaN: not evaluated
    assert min(metrics["valid/error"][1::2]) == pytest.approx(whole.summary["valid/error"])
    pytest.importorskip("pandas")
    frame = metrics.to_pandas()
    assert list(frame.columns) == list(metrics) and len(frame) == 4
    assert frame["episodes"].tolist() == metrics["episodes"]
    assert frame["valid/error"].isna().tolist() == [True, False, True, False]


def test_evaluate_returns_the_figures_of_the_test(whole):
    figures = saccade.evaluate(whole)
    assert figures["test/error"] == whole.summary["test/error"]
    assert figures["attention/on_target_by_glimpse"] == pytest.approx(
        whole.summary["attention/on_target_by_glimpse"]
    )
    assert saccade.evaluate(whole.path, episodes=20, threads=1)["test/scenes"] == 20


def test_evaluate_on_other_scenes(whole):
    trained = whole.config["scene"]["num_distractors"]
    figures = saccade.evaluate(
        whole, episodes=20, other_scenes={"scene": {"num_distractors": trained + 2}}
    )
    assert figures["test/other_scenes"] == {
        "scene.num_distractors": {"training": trained, "test": trained + 2}
    }
    assert "test/other_scenes" not in saccade.evaluate(whole, episodes=20)
    with pytest.raises(saccade.InputError, match="not a setting of scenes"):
        saccade.evaluate(whole, other_scenes={"retina.scales": 1})


def test_evaluate_stops_when_sure(whole):
    figures = saccade.evaluate(whole)
    assert figures["test/stopped_error"] == whole.summary["test/stopped_error"]
    curves = figures["test/stopping"]
    assert len(curves["test"]["error"]) == len(curves["thresholds"])
    assert curves["always"]["error"][-1] == figures["test/error"]
    assert saccade.evaluate(whole, stop=0.6)["test/stop_threshold"] == 0.6
    assert saccade.evaluate(whole, stop_looks=1.0)["test/looks"] >= 1.0
    with pytest.raises(saccade.InputError, match="^stop: 1.5; allowed: above 0 and below 1"):
        saccade.evaluate(whole, stop=1.5)
    with pytest.raises(saccade.InputError, match="stop_looks"):
        saccade.evaluate(whole, stop_looks=0.5)


# ---- Invalid input ----


@pytest.mark.parametrize(
    ("config", "overrides", "words"),
    [
        ("quickstrat", {}, "config: 'quickstrat' is neither a file nor a preset; allowed: the path of"),
        ("elsewhere/quickstart.yaml", {}, "is neither a file nor a preset"),
        (3, {}, "config: 3; allowed: a file, the name of a preset, or a dict"),
        ("quickstart", {"trainig.episodes": 1}, "did you mean 'training.episodes'?"),
        ("quickstart", {"training.episodes": -1}, "training.episodes=-1"),
        ("quickstart", {"training.learning_rate": float("nan")}, "nan; allowed: finite numbers"),
        ("quickstart", {"training.learning_rate": object()}, "allowed: numbers, text"),
        ("quickstart", {1: 2}, "overrides: key 1; allowed: text"),
        ("quickstart", ["seed=1"], "overrides: ['seed=1']; allowed: a dict of settings"),
        ({"trainig": {"episodes": 1}}, {}, "config: unknown key 'trainig.episodes'; did you mean"),
        ({"trainig": {}}, {}, "config: unknown key 'trainig'"),
        ({"training": 1}, {}, "config: 'training' is a section"),
        ({"data.source": "emnits"}, {}, "config: data.source: 'emnits' is unknown (did you mean 'emnist'?); allowed: "),
        ({"seed": 1.5}, {}, "config: seed: '1.5' is not an integer"),
        ({"log": {"every": 9}, "log.every": 9}, {}, "config: log.every is given twice"),
        ({"seeds": 2}, {}, "config: a study of several runs (vary, seeds); saccade.study runs it"),
        ("hard_vs_soft", {}, "a study of several runs"),
        ("quickstart", {"seeds": 2}, "a study of several runs"),
    ],
)
def test_invalid_configurations_are_refused(tmp_path, config, overrides, words):
    with pytest.raises(saccade.InputError) as error:
        saccade.train(config, overrides, out=tmp_path / "run")
    assert words in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threads": -1}, "threads: -1; allowed: 0 to 1024"),
        ({"threads": 5000}, "threads: 5000; allowed: 0 to 1024"),
        ({"callback": 3}, "callback: 3; allowed: a function, or None"),
    ],
)
def test_invalid_arguments_are_refused(tmp_path, options, words):
    with pytest.raises(saccade.InputError) as error:
        saccade.train("quickstart", SMALL, out=tmp_path / "run", **options)
    assert words in str(error.value)
    assert not (tmp_path / "run").exists()


def test_existing_runs_are_not_overwritten(tmp_path, whole):
    before = results(whole.path)
    with pytest.raises(saccade.InputError, match="exists already"):
        saccade.train("quickstart", SMALL, out=whole.path)
    with pytest.raises(saccade.InputError, match="with another configuration: seed: 1 there, 2 now"):
        saccade.train("quickstart", {**SMALL, "seed": 2}, out=whole.path, resume=True)
    assert results(whole.path) == before

    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(saccade.InputError, match="file"):
        saccade.train("quickstart", SMALL, out=file)
    assert file.read_text() == "mine"


def test_a_folder_that_is_not_a_run_is_refused(tmp_path, whole):
    for use in (saccade.Run, saccade.Study, saccade.evaluate, saccade.compare):
        with pytest.raises(saccade.InputError) as error:
            use(tmp_path / "none")
        assert str(tmp_path / "none") in str(error.value)
    with pytest.raises(saccade.InputError, match="episodes: 0; allowed: 1 to 100000000"):
        saccade.evaluate(whole, episodes=0)


def test_a_forked_process_refuses_to_train(whole):
    """After the parent has trained, a fork would wait for its threads forever."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            saccade.evaluate(whole)
        except RuntimeError as error:
            os.write(write, str(error).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert "forked" in pipe.read()
    os.waitpid(child, 0)
