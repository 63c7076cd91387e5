"""Where the settings, rows and test figures of trainings also go: `train(..., sinks=[...])`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from . import _saccade
from ._extras import extra
from ._saccade import InputError
from ._training import Row
from .runs import Run

__all__ = ["Log", "MLflow", "Sink", "WandB"]

Status = Literal["finished", "stopped", "failed"]


class Log(Protocol):
    """What a sink keeps of one training."""

    def row(self, row: Row) -> None:
        """Called with each row of metrics.csv, before the callback."""

    def end(self, run: Run, status: Status) -> None:
        """Called once, at the end: `finished` with a test, whose figures are in run.summary;
        `stopped` by the callback or Ctrl-C; or `failed`. Nothing else is called afterwards."""


class Sink(Protocol):
    """What `train(sinks=...)` and `study(sinks=...)` take. Its methods are called on the thread that
    called these, for one training at a time. An exception stops the training, as one of a callback
    does."""

    def begin(self, run: Run) -> Log:
        """A training begins or is resumed; run.config has its settings. Not called for a run that
        is finished."""


class WandB:
    """Weights & Biases: a run for each training, with its rows over `episodes`, and the test figures
    in the run's summary. Needs wandb (`pip install '.[wandb]'` in a clone).

    init: arguments of wandb.init, such as project ("saccade" by default), entity, name (the run
        folder), tags, and mode="offline". `id=..., resume="allow"` continues the run of an earlier
        process.
    """

    def __init__(self, **init: Any) -> None:
        self._wandb = extra("wandb", "wandb")
        self._init = init

    def begin(self, run: Run) -> Log:
        arguments = {
            "project": "saccade",
            "name": str(run.path),
            "config": run.config,
            "reinit": "create_new",  # the runs of a study overlap
        }
        return _WandBLog(self._wandb.init(**(arguments | self._init)))


class _WandBLog:
    def __init__(self, logged: Any) -> None:
        self._logged = logged
        logged.define_metric("episodes")
        logged.define_metric("*", step_metric="episodes")

    def row(self, row: Row) -> None:
        self._logged.log(dict(row))

    def end(self, run: Run, status: Status) -> None:
        try:
            self._logged.summary.update({"status": status, **_test_figures(run)})
        finally:
            self._logged.finish(exit_code=1 if status == "failed" else 0)


class MLflow:
    """MLflow: a run for each training, with the settings as parameters, the rows as metrics over the
    episodes, and the test figures as metrics of the last one. Needs mlflow
    (`pip install '.[mlflow]'` in a clone).

    experiment: the name of the experiment, which is made if there is none.
    tracking_uri: the server, folder or database; by default that of mlflow.
    run_name: the name of the run; by default the run folder.
    run_id: an MLflow run to continue, for a resumed training. It keeps its parameters.
    tags: tags of the run, by name.
    """

    def __init__(
        self,
        experiment: str = "saccade",
        *,
        tracking_uri: str | None = None,
        run_name: str | None = None,
        run_id: str | None = None,
        tags: dict[str, str] | None = None,
    ) -> None:
        self._entities = extra("mlflow.entities", "mlflow")
        self._client = extra("mlflow", "mlflow").MlflowClient(tracking_uri=tracking_uri)
        self._experiment = experiment
        self._run_name = run_name
        self._run_id = run_id
        self._tags = tags

    def begin(self, run: Run) -> Log:
        if self._run_id is not None:
            self._client.update_run(self._run_id, status="RUNNING")
            return _MLflowLog(self._client, self._entities, self._run_id)
        name = self._run_name or str(run.path)
        created = self._client.create_run(self._experiment_id(), run_name=name, tags=self._tags)
        log = _MLflowLog(self._client, self._entities, created.info.run_id)
        log.settings(run)
        return log

    def _experiment_id(self) -> str:
        found = self._client.get_experiment_by_name(self._experiment)
        made: str = (
            self._client.create_experiment(self._experiment)
            if found is None
            else found.experiment_id
        )
        return made


class _MLflowLog:
    _MOST_PARAMETERS = 100  # that MLflow takes at once

    def __init__(self, client: Any, entities: Any, run_id: str) -> None:
        self._client = client
        self._entities = entities
        self._run_id = run_id
        self._episodes = 0

    def settings(self, run: Run) -> None:
        items = _saccade.config_items(run.path / "config.yaml")
        params = [self._entities.Param(key, str(value)) for key, value in items]
        for first in range(0, len(params), self._MOST_PARAMETERS):
            part = params[first : first + self._MOST_PARAMETERS]
            self._client.log_batch(self._run_id, params=part)

    def row(self, row: Row) -> None:
        self._episodes = int(row["episodes"])
        self._metrics({name: value for name, value in row.items() if name != "episodes"})

    def end(self, run: Run, status: Status) -> None:
        ended = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}[status]
        try:
            self._metrics(_test_figures(run))
        finally:
            self._client.set_terminated(self._run_id, status=ended)

    def _metrics(self, values: dict[str, float]) -> None:
        now = int(1000 * time.time())
        metrics = [
            self._entities.Metric(name, float(value), now, self._episodes)
            for name, value in values.items()
        ]
        if metrics:
            self._client.log_batch(self._run_id, metrics=metrics)


def _test_figures(run: Run) -> dict[str, float]:
    """The numbers of summary.json that are no column of metrics.csv."""
    columns = run.metrics
    return {
        name: value
        for name, value in run.summary.items()
        if isinstance(value, int | float) and name not in columns
    }


class Logs:
    """What all sinks keep of one training."""

    def __init__(self, sinks: Sequence[Sink], folder: Path) -> None:
        self._run = Run(folder)
        self._logs: list[Log] = []
        try:
            for sink in sinks:
                self._logs.append(sink.begin(self._run))
        except BaseException:
            self.end(failed=True)
            raise

    def row(self, row: Row) -> None:
        for log in self._logs:
            log.row(row)

    def end(self, *, failed: bool) -> None:
        """Ends every log, and raises the first exception of one."""
        status: Status = "failed" if failed else "finished" if self._run.finished else "stopped"
        errors = list(self._end(status))
        if errors:
            raise errors[0]

    def _end(self, status: Status) -> Iterator[Exception]:
        for log in self._logs:
            try:
                log.end(self._run, status)
            except Exception as error:
                yield error


def checked(sinks: Sequence[Sink]) -> list[Sink]:
    """Raises InputError for what is no sink."""
    for sink in sinks:
        if not callable(getattr(sink, "begin", None)):
            raise InputError(f"sinks: {sink!r}; allowed: objects as saccade.sinks.Sink")
    return list(sinks)
