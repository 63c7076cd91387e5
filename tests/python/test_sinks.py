"""saccade.sinks: what Weights & Biases, MLflow and own sinks get of trainings."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest
import saccade
import saccade.sinks
from training_support import SMALL, assert_same_results


class Kept:
    """A sink of its own, which keeps what it gets, in order."""

    def __init__(self, fails: str = "") -> None:
        self.events: list[tuple] = []
        self._fails = fails

    def _keep(self, what: str, *facts: object) -> None:
        self.events.append((what, *facts))
        if what == self._fails:
            raise OSError(f"no network at {what}")

    def begin(self, run: saccade.Run) -> Kept:
        self._keep("begin", run.config["name"])
        return self

    def row(self, row: dict) -> None:
        self._keep("row", row["episodes"])

    def end(self, run: saccade.Run, status: str) -> None:
        self._keep("end", status, "test/error" in run.summary)


ROWS = [("row", n) for n in (512, 1024, 1536, 2048)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> saccade.Run:
    return saccade.train("quickstart", SMALL, out=tmp_path_factory.mktemp("whole") / "run")


# ---- Own sinks ----


def test_sinks_get_the_beginning_the_rows_and_the_end(tmp_path, whole):
    one, other = Kept(), Kept()
    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", sinks=[one, other])
    assert one.events == [("begin", "quickstart"), *ROWS, ("end", "finished", True)]
    assert other.events == one.events
    assert_same_results(run.path, whole.path)
    again = Kept()
    saccade.train("quickstart", SMALL, out=tmp_path / "run", resume=True, sinks=[again])
    assert again.events == []


def test_a_stopped_run_ends_its_sinks_and_a_resumed_one_begins_anew(tmp_path):
    sink = Kept()
    out = tmp_path / "run"
    stop = lambda row: row["episodes"] == 1024  # noqa: E731
    saccade.train("quickstart", SMALL, out=out, sinks=[sink], callback=stop)
    assert sink.events == [("begin", "quickstart"), *ROWS[:2], ("end", "stopped", False)]
    sink.events.clear()
    saccade.train("quickstart", SMALL, out=out, sinks=[sink], resume=True)
    assert sink.events == [("begin", "quickstart"), *ROWS[2:], ("end", "finished", True)]


@pytest.mark.parametrize(("error", "status"), [(KeyError, "failed"), (KeyboardInterrupt, "stopped")])
def test_an_exception_ends_the_sinks(tmp_path, error, status):
    def callback(row):
        raise error("mine")

    sink = Kept()
    with pytest.raises(error, match="mine"):
        saccade.train("quickstart", SMALL, out=tmp_path / "run", sinks=[sink], callback=callback)
    assert sink.events == [("begin", "quickstart"), ROWS[0], ("end", status, False)]


@pytest.mark.parametrize("fails", ["begin", "row", "end"])
def test_a_sink_that_fails_stops_the_training_and_the_others_end(tmp_path, whole, fails):
    first, failing = Kept(), Kept(fails)
    with pytest.raises(OSError, match=f"no network at {fails}"):
        saccade.train("quickstart", SMALL, out=tmp_path / "run", sinks=[first, failing])
    assert first.events[0] == ("begin", "quickstart")
    status = ("finished", True) if fails == "end" else ("failed", False)
    assert first.events[-1] == ("end", *status)
    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", resume=True)
    assert_same_results(run.path, whole.path)


def test_a_sink_that_fails_at_the_end_does_not_hide_the_exception(tmp_path, caplog):
    def callback(row):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        saccade.train("quickstart", SMALL, out=tmp_path / "run", sinks=[Kept("end")], callback=callback)
    assert "a sink failed at its end" in caplog.text


def test_every_run_of_a_study_has_its_own_log(tmp_path):
    logs: list[Kept] = []

    class Sink:
        def begin(self, run: saccade.Run) -> Kept:
            logs.append(Kept())
            return logs[-1]

    study = saccade.study("quickstart", {**SMALL, "seeds": 2}, out=tmp_path / "s", sinks=[Sink()])
    assert study.finished and len(logs) == 2
    for log in logs:
        assert log.events == [*ROWS, ("end", "finished", True)]


def test_what_is_no_sink_is_refused(tmp_path):
    with pytest.raises(saccade.InputError, match="^sinks: 3; allowed: objects as saccade.sinks.Sink"):
        saccade.train("quickstart", SMALL, out=tmp_path / "run", sinks=[3])
    assert not (tmp_path / "run").exists()


# ---- Weights & Biases ----


class FakeWandB(types.ModuleType):
    """The part of wandb that is used."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.runs: list[Any] = []

    def init(self, **arguments: Any) -> Any:
        run = types.SimpleNamespace(arguments=arguments, rows=[], axes={}, summary={}, code=None)
        run.define_metric = lambda name, step_metric=None: run.axes.update({name: step_metric})
        run.log = run.rows.append
        run.finish = lambda exit_code: setattr(run, "code", exit_code)
        self.runs.append(run)
        return run


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> FakeWandB:
    fake = FakeWandB()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    return fake


def test_wandb_gets_settings_rows_and_test_figures(tmp_path, wandb):
    rows: list[dict] = []
    sink = saccade.sinks.WandB(project="mine", tags=["a"])
    run = saccade.train(
        "quickstart", SMALL, out=tmp_path / "run", sinks=[sink], callback=rows.append
    )
    (logged,) = wandb.runs
    assert logged.arguments == {
        "project": "mine",
        "name": str(run.path),
        "config": run.config,
        "reinit": "create_new",
        "tags": ["a"],
    }
    assert logged.axes == {"episodes": None, "*": "episodes"}
    assert logged.rows == rows
    assert logged.summary["status"] == "finished"
    assert logged.summary["test/error"] == run.summary["test/error"]
    assert logged.summary["best_episodes"] == run.summary["best_episodes"]
    assert "valid/error" not in logged.summary and "time/elapsed" not in logged.summary
    assert logged.code == 0


def test_wandb_learns_of_a_failure(tmp_path, wandb):
    def callback(row):
        raise KeyError("mine")

    sink = saccade.sinks.WandB()
    with pytest.raises(KeyError):
        saccade.train("quickstart", SMALL, out=tmp_path / "run", sinks=[sink], callback=callback)
    (logged,) = wandb.runs
    assert logged.arguments["project"] == "saccade"
    assert (logged.code, logged.summary) == (1, {"status": "failed"})


# ---- MLflow ----


class FakeClient:
    """The part of MlflowClient that is used, with its limit."""

    def __init__(self, tracking_uri: str | None = None) -> None:
        self.uri = tracking_uri
        self.experiments: dict[str, str] = {}
        self.runs: dict[str, Any] = {}

    def get_experiment_by_name(self, name: str) -> Any:
        made = self.experiments.get(name)
        return made and types.SimpleNamespace(experiment_id=made)

    def create_experiment(self, name: str) -> str:
        self.experiments[name] = f"x{len(self.experiments)}"
        return self.experiments[name]

    def create_run(self, experiment_id: str, run_name: str, tags: Any) -> Any:
        key = f"r{len(self.runs)}"
        self.runs[key] = types.SimpleNamespace(
            experiment=experiment_id, name=run_name, tags=tags, params={}, metrics=[], status="RUNNING"
        )
        return types.SimpleNamespace(info=types.SimpleNamespace(run_id=key))

    def update_run(self, run_id: str, status: str) -> None:
        self.runs[run_id].status = status

    def log_batch(self, run_id: str, metrics: Any = (), params: Any = ()) -> None:
        assert len(params) <= 100 and len(metrics) <= 1000
        self.runs[run_id].params.update(params)
        self.runs[run_id].metrics += [(name, value, step) for name, value, _, step in metrics]

    def set_terminated(self, run_id: str, status: str) -> None:
        self.runs[run_id].status = status


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    """The client of every sink."""
    client = FakeClient()
    fake, entities = types.ModuleType("mlflow"), types.ModuleType("mlflow.entities")
    fake.MlflowClient = lambda tracking_uri=None: client  # type: ignore[attr-defined]
    entities.Param = lambda key, value: (key, value)  # type: ignore[attr-defined]
    entities.Metric = lambda *facts: facts  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    monkeypatch.setitem(sys.modules, "mlflow.entities", entities)
    return client


def test_mlflow_gets_settings_rows_and_test_figures(tmp_path, mlflow):
    rows: list[dict] = []
    sink = saccade.sinks.MLflow("mine", tags={"a": "b"})
    run = saccade.train(
        "quickstart", SMALL, out=tmp_path / "run", sinks=[sink], callback=rows.append
    )
    (logged,) = mlflow.runs.values()
    assert (logged.experiment, logged.name) == (mlflow.experiments["mine"], str(run.path))
    assert logged.tags == {"a": "b"} and logged.status == "FINISHED"
    assert logged.params["training.episodes"] == "2048" and len(logged.params) > 100
    expected = [
        (name, value, row["episodes"])
        for row in rows
        for name, value in row.items()
        if name != "episodes"
    ]
    assert logged.metrics[: len(expected)] == expected
    figures = {name: value for name, value, step in logged.metrics[len(expected) :]}
    assert figures["test/error"] == run.summary["test/error"] and "valid/error" not in figures
    assert {step for *_, step in logged.metrics[len(expected) :]} == {2048}


def test_mlflow_continues_a_run(tmp_path, mlflow):
    out = tmp_path / "run"
    saccade.train(
        "quickstart", SMALL, out=out, sinks=[saccade.sinks.MLflow()], callback=lambda row: True
    )
    ((key, logged),) = mlflow.runs.items()
    assert logged.status == "KILLED" and {step for *_, step in logged.metrics} == {512}
    saccade.train(
        "quickstart", SMALL, out=out, resume=True, sinks=[saccade.sinks.MLflow(run_id=key)]
    )
    assert list(mlflow.runs) == [key] and logged.status == "FINISHED"
    assert {step for *_, step in logged.metrics} == {512, 1024, 1536, 2048}
    assert list(mlflow.experiments) == ["saccade"]


def test_mlflow_learns_of_a_failure(tmp_path, mlflow):
    def callback(row):
        raise KeyError("mine")

    with pytest.raises(KeyError):
        saccade.train(
            "quickstart", SMALL, out=tmp_path / "run", sinks=[saccade.sinks.MLflow()], callback=callback
        )
    (logged,) = mlflow.runs.values()
    assert logged.status == "FAILED"


def test_mlflow_itself(tmp_path):
    mlflow = pytest.importorskip("mlflow")
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}" if _has_sql() else (tmp_path / "mlruns").as_uri()
    sink = saccade.sinks.MLflow("mine", tracking_uri=uri)
    run = saccade.train("quickstart", SMALL, out=tmp_path / "run", sinks=[sink])
    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("mine").experiment_id
    (logged,) = client.search_runs([experiment])
    assert logged.info.status == "FINISHED" and logged.info.run_name == str(run.path)
    assert logged.data.params["training.episodes"] == "2048"
    assert logged.data.params["scene.canvas"] == str(run.config["scene"]["canvas"])
    assert logged.data.metrics["test/error"] == pytest.approx(run.summary["test/error"])
    history = client.get_metric_history(logged.info.run_id, "train/loss")
    assert [point.step for point in history] == [512, 1024, 1536, 2048]
    assert [point.value for point in history] == pytest.approx(run.metrics["train/loss"])


def _has_sql() -> bool:
    try:
        import sqlalchemy  # noqa: F401
    except ImportError:
        return False
    return True


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ImportError, match=r"this needs wandb: pip install '.\[wandb\]' in a clone"):
        saccade.sinks.WandB()
