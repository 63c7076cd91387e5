"""Studies and comparisons as dicts and frames, and other commands."""

from __future__ import annotations

import fcntl
import json
import logging
import re
import subprocess
from pathlib import Path

import pytest
import saccade
from training_support import SMALL, assert_same_results

VARIED = {
    **SMALL,
    "vary": {"attention.glimpse.kind": ["hard_gaussian", "center"]},
    "seeds": [1, 2],
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> saccade.Study:
    return saccade.study("quickstart", VARIED, out=tmp_path_factory.mktemp("study") / "s")


def test_a_study_trains_its_variants_with_each_seed(tmp_path, study):
    runs = study.runs
    assert study.finished and all(run.finished for run in runs)
    assert [(run.config["attention"]["glimpse"]["kind"], run.config["seed"]) for run in runs] == [
        ("hard_gaussian", 1),
        ("hard_gaussian", 2),
        ("center", 1),
        ("center", 2),
    ]
    alone = saccade.train("quickstart", SMALL, out=tmp_path / "alone")
    assert_same_results(alone.path, runs[0].path)
    assert repr(study) == f"Study('{study.path}', 4 runs)"
    assert (study.path / "comparison" / "report.html").is_file()
    shown = study._repr_html_()
    assert shown.startswith("<table>") and shown.count("<tr>") == 5
    for run in runs:
        assert f"<td>{100 * run.summary['test/error']:.2f}</td>" in shown


def test_a_study_matches_the_command_line(program, tmp_path, study):
    yaml = Path(saccade.__file__).parent / "experiments" / "quickstart.yaml"
    words = [f"{key}={json.dumps(value)}" for key, value in VARIED.items()]
    command = [program, "run", str(yaml), *words, "--quiet", "--out", str(tmp_path / "s")]
    subprocess.run(command, check=True)
    others = saccade.Study(tmp_path / "s").runs
    for one, other in zip(study.runs, others, strict=True):
        assert one.path.relative_to(study.path) == other.path.relative_to(tmp_path / "s")
        assert_same_results(one.path, other.path)


def test_a_stopped_study_continues(tmp_path, study):
    seen = []

    def callback(row, folder):
        seen.append((folder.name, row["episodes"]))
        return len(seen) == 5

    out = tmp_path / "s"
    stopped = saccade.study("quickstart", VARIED, out=out, jobs=1, callback=callback)
    assert not stopped.finished and "not finished" in repr(stopped)
    assert seen == [("seed-1", e) for e in (512, 1024, 1536, 2048)] + [("seed-2", 512)]
    assert [run.finished for run in stopped.runs] == [True, False]
    whole = saccade.study("quickstart", VARIED, out=out)
    for one, other in zip(whole.runs, study.runs, strict=True):
        assert_same_results(one.path, other.path)


def test_a_study_stopped_at_the_end_of_a_run_starts_no_other(tmp_path):
    def callback(row, folder):
        return row["episodes"] == 2048

    stopped = saccade.study("quickstart", VARIED, out=tmp_path / "s", jobs=1, callback=callback)
    assert [run.finished for run in stopped.runs] == [False]  # its test remains to be done


def test_an_exception_from_a_studys_callback_propagates(tmp_path):
    def callback(row, folder):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        saccade.study("quickstart", VARIED, out=tmp_path / "s", jobs=1, callback=callback)
    assert [run.metrics["episodes"] for run in saccade.Study(tmp_path / "s").runs] == [[512]]


def test_parallel_runs_match_single_runs(tmp_path, study):
    seen: dict[Path, list[float]] = {}

    def callback(row, folder):
        seen.setdefault(folder, []).append(row["episodes"])

    out = tmp_path / "s"
    at_once = saccade.study("quickstart", VARIED, out=out, jobs=4, threads=4, callback=callback)
    assert seen == {run.path: [512, 1024, 1536, 2048] for run in at_once.runs}
    for one, other in zip(at_once.runs, study.runs, strict=True):
        assert_same_results(one.path, other.path)


def test_an_exception_from_a_callback_stops_all_parallel_runs(tmp_path):
    def callback(row, folder):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        saccade.study("quickstart", VARIED, out=tmp_path / "s", jobs=4, callback=callback)
    assert not any(run.finished for run in saccade.Study(tmp_path / "s").runs)


@pytest.mark.parametrize("jobs", [-1, 1025])
def test_invalid_jobs_are_refused(tmp_path, jobs):
    with pytest.raises(saccade.InputError, match=f"jobs: {jobs}; allowed: 1 to 1024"):
        saccade.study("quickstart", VARIED, out=tmp_path / "s", jobs=jobs)


def test_a_run_of_another_process_is_left_to_it(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="saccade")
    out, twin = tmp_path / "s", tmp_path / "twin"
    first = saccade.study("quickstart", {**SMALL, "seeds": 2}, out=twin).runs[0]
    run = out / first.path.relative_to(twin)
    run.mkdir(parents=True)
    with (run / "lock").open("w") as lock:
        lock.write("process 1 on host far, of user me\n2026-11-23 02:40:11\nsaccade run\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        others = saccade.study("quickstart", {**SMALL, "seeds": 2}, out=out)
        assert [run.config["seed"] for run in others.runs if run.finished] == [2]
        holder = "process 1 on host far, of user me, since 2026-11-23 02:40:11"
        assert f"1 run is still being trained by {holder}" in caplog.text
        with pytest.raises(saccade.InputError, match=f"seed-1: is being trained by {holder}; wait"):
            saccade.train("quickstart", SMALL, out=run)
    assert saccade.study("quickstart", {**SMALL, "seeds": 2}, out=out).finished


def test_a_failed_run_is_reported_and_the_others_are_trained(tmp_path, caplog):
    overrides = {**SMALL, "vary": {"init_from": [None, str(tmp_path / "none")]}}
    with pytest.raises(RuntimeError, match="1 of 2 runs failed"):
        saccade.study("quickstart", overrides, out=tmp_path / "s")
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "failed: init_from: " in warning.getMessage()
    assert [run.finished for run in saccade.Study(tmp_path / "s").runs] == [True]


@pytest.mark.parametrize(
    ("config", "overrides", "words"),
    [
        ("quickstart", {}, "no study: neither vary nor seeds; saccade.train trains a single run"),
        ("quickstart", {"seeds": 0}, "seeds: '0'; allowed: an integer from 1 to"),
        ({"seed": 1, "seeds": 2}, {}, "config: seed has no effect with seeds"),
        ({"vary": {"model.cor": ["rnn"]}}, {}, "did you mean 'model.core'?"),
        ({"vary": {"seed": [1]}}, {}, "vary: seed cannot be varied"),
        ({"vary": {"model.core": ["rnn"]}}, {"model.core": "gru"}, "model.core is varied at"),
    ],
)
def test_invalid_studies_are_refused(tmp_path, config, overrides, words):
    with pytest.raises(saccade.InputError) as error:
        saccade.study(config, overrides, out=tmp_path / "s")
    assert words in str(error.value)
    assert not (tmp_path / "s").exists()


def test_a_study_prints_nothing_by_default(tmp_path, capfd):
    saccade.study("quickstart", {**SMALL, "seeds": 2}, out=tmp_path / "s")
    assert capfd.readouterr() == ("", "")


# ---- Comparisons ----


def document_of(comparison, variant):
    return next(v for v in comparison.to_dict()["variants"] if v["variant"] == variant)


def test_a_comparison_is_a_dict_a_page_and_a_table(tmp_path, study):
    comparison = saccade.compare(study, out=tmp_path / "c")
    document = comparison.to_dict()
    assert [v["variant"] for v in document["variants"]] == ["hard_gaussian", "center"]
    errors = [run.summary["test/error"] for run in study.runs]
    assert [v["errors"] for v in document["variants"]] == [errors[:2], errors[2:]]
    assert document["commands"][-1] == (f"saccade.compare('{study.path}', out='{tmp_path / 'c'}')")
    assert comparison.report == tmp_path / "c" / "report.html" and comparison.report.is_file()
    document["variants"].clear()
    assert comparison.to_dict()["variants"]

    html = comparison._repr_html_()
    assert html.count("<tr>") == 3 and f"{50 * sum(errors[:2]):.2f} [" in html
    shuffled = [run.summary["test/error_shuffled"] for run in study.runs]
    assert "<th>shuffled %</th><th>centre %</th><th>random %</th>" in html
    assert f"{50 * sum(shuffled[:2]):.2f} [" in html
    # An agent that looks at the centre is no better than the centre control.
    assert "test/error_center" in document_of(comparison, "center")["not_clearly_better_than"]
    assert re.fullmatch(
        r"Comparison\(hard_gaussian .* %, center .* %; .*report.html\)", repr(comparison)
    )

    ended = study.comparison()
    assert ended.to_dict()["variants"] == comparison.to_dict()["variants"]
    assert ended.report == study.path / "comparison" / "report.html"


def test_comparisons_and_studies_are_frames(tmp_path, study):
    pytest.importorskip("pandas")
    errors = [run.summary["test/error"] for run in study.runs]
    frame = saccade.compare(*study.runs, out=tmp_path / "c").to_pandas()
    assert frame.index.tolist() == ["hard_gaussian", "center"] and frame.index.name == "variant"
    assert frame["test/error"].tolist() == pytest.approx([sum(errors[:2]) / 2, sum(errors[2:]) / 2])
    assert frame["attention.glimpse.kind"].tolist() == ["hard_gaussian", "center"]
    assert frame["difference"].isna().tolist() == [True, False]
    for control in ("test/error_shuffled", "test/error_center", "test/error_random"):
        found = [run.summary[control] for run in study.runs]
        assert frame[control].tolist() == pytest.approx([sum(found[:2]) / 2, sum(found[2:]) / 2])

    one = saccade.compare(study.runs[0], out=tmp_path / "one").to_pandas()
    assert one["test/error_low"].isna().all() and one["test/error_low"].dtype == float

    runs = study.to_pandas()
    assert runs["test/error"].tolist() == errors
    assert runs["seed"].tolist() == [1, 2, 1, 2]
    assert runs["attention.glimpse.kind"].tolist() == ["hard_gaussian"] * 2 + ["center"] * 2


def test_a_comparison_stops_its_agents_for_a_target(tmp_path, study):
    every = saccade.compare(study, out=tmp_path / "c").to_dict()["variants"]
    first = saccade.compare(study, out=tmp_path / "first", stop_looks=1)
    assert first.to_dict()["commands"][-1].endswith(", stop_looks=1.0)")
    for variant, default in zip(first.to_dict()["variants"], every, strict=True):
        assert variant["test/looks"] == 1.0 <= default["test/looks"]
        assert variant["test/error"] == default["test/error"]
    anything = saccade.compare(study, out=tmp_path / "any", stop_error=1.0).to_dict()["variants"]
    assert [v["test/stopped_error"] for v in anything] == [
        v["test/stopped_error"] for v in first.to_dict()["variants"]
    ]
    report = (tmp_path / "first" / "compare.md").read_text()
    assert report != (tmp_path / "c" / "compare.md").read_text()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"stop_error": 1.5}, "^stop_error: 1.5; allowed: "),
        ({"stop_error": "little"}, "^stop_error: 'little'; allowed: a number"),
        ({"stop_looks": 0.5}, "^stop_looks: 0.5; allowed: "),
        ({"stop_looks": float("nan")}, "^stop_looks: nan; allowed: a finite number"),
        ({"stop_error": 0.1, "stop_looks": 2}, "stop_looks"),
    ],
)
def test_a_target_that_no_agent_can_have_is_refused(tmp_path, study, target, words):
    with pytest.raises(saccade.InputError, match=words):
        saccade.compare(study, out=tmp_path / "c", **target)
    assert not (tmp_path / "c").exists()


def test_a_tuned_comparison_reads_only_the_chosen_tests(tmp_path, study):
    tuned = saccade.compare(study, tuned_by=["attention.glimpse.kind"], out=tmp_path / "c")
    (variant,) = tuned.to_dict()["variants"]
    assert [len(one["folders"]) for one in variant["tries"]] == [2, 2]
    assert tuned.to_dict()["tuned_by"] == ["attention.glimpse.kind"]
    assert study.comparison(tuned_by="attention.glimpse.kind").to_dict()["variants"] == [variant]


def test_an_older_comparison_is_not_overwritten(tmp_path, study):
    saccade.compare(study, out=tmp_path / "c")
    before = {file: file.read_bytes() for file in (tmp_path / "c").iterdir() if file.is_file()}
    with pytest.raises(saccade.InputError, match="exists already"):
        saccade.compare(study.runs[0], out=tmp_path / "c")
    assert {file: file.read_bytes() for file in before} == before
    saccade.compare(study.runs[0], out=tmp_path / "c", force=True)
    assert (tmp_path / "c" / "compare.csv").read_bytes() != before[tmp_path / "c" / "compare.csv"]


def test_invalid_comparisons_are_refused(tmp_path, study):
    with pytest.raises(saccade.InputError, match="folders: none; allowed: one and more"):
        saccade.compare()
    with pytest.raises(saccade.InputError, match="model.cor"):
        saccade.compare(study, tuned_by="model.cor", out=tmp_path / "c")
    assert not (tmp_path / "c").exists()


# ---- Other commands ----


def test_gradients_of_a_run(study):
    agent = study.runs[0].agent()
    document = agent.gradients(scenes=4, samples=4, rollouts=2)
    assert document["scenes"] == 4 and set(document["estimators"]) >= {"learned", "none"}
    with pytest.raises(saccade.InputError, match="samples: 1; allowed: 3 to 100000"):
        agent.gradients(samples=1)
    soft = study.runs[2]
    said = f"{soft.path}: its locator does not learn by REINFORCE"
    with pytest.raises(saccade.InputError, match=re.escape(said)):
        soft.agent().gradients()


def test_a_recording_of_runs(tmp_path, study, capfd):
    recording = saccade.record([study.runs[0], study.runs[2]], scenes=2)
    recording.save(tmp_path / "looks.gif")
    assert (tmp_path / "looks.gif").read_bytes()[:6] == b"GIF89a"
    with pytest.raises(saccade.InputError, match="exists already"):
        recording.save(tmp_path / "looks.gif")
    assert capfd.readouterr() == ("", "")
