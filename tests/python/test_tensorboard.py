"""`log.tensorboard`, read by TensorBoard itself."""

import csv
import pathlib

import numpy as np
import pytest
from training_support import SMALL

import saccade


def test_tensorboard_reads_the_rows_and_the_recordings(tmp_path: pathlib.Path) -> None:
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    config = {
        **SMALL,
        "data.source": "synthetic",
        "log.tensorboard": True,
        "log.jsonl": True,
        "record.every": 1024,
        "record.scenes": 1,
    }
    run = saccade.train(config, out=tmp_path / "run", threads=1)
    events = accumulators.EventAccumulator(
        str(run.path), size_guidance={"scalars": 0, "images": 0}
    )
    events.Reload()
    with open(run.path / "metrics.csv") as file:
        rows = list(csv.DictReader(file))
    columns = {name for row in rows for name, cell in row.items() if cell}
    scalars = set(events.Tags()["scalars"])
    assert columns <= scalars <= columns | set(run.summary) and "test/error" in scalars
    for name in columns:
        read = [(event.step, np.float32(event.value)) for event in events.Scalars(name)]
        written = [(int(row["episodes"]), float(row[name])) for row in rows if row[name]]
        assert [step for step, _ in read] == [step for step, _ in written]
        np.testing.assert_allclose(
            [value for _, value in read], [value for _, value in written], rtol=1e-6
        )
    assert events.Tags()["images"] == ["recording"]
    recordings = events.Images("recording")
    assert [recording.step for recording in recordings] == [0, 1024, 2048]
    for recording in recordings:
        file = run.path / f"recordings/episodes-{recording.step:04}.gif"
        assert recording.encoded_image_string == file.read_bytes()
        assert (recording.width, recording.height) > (100, 100)


def test_tensorboard_shows_settings_and_test_figures_as_hyperparameters(
    tmp_path: pathlib.Path,
) -> None:
    pytest.importorskip("tensorboard.plugins.hparams")
    from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
    from tensorboard.context import RequestContext
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.hparams import api_pb2, backend_context, get_experiment
    from tensorboard.plugins.hparams import list_session_groups as groups

    settings = {**SMALL, "data.source": "synthetic", "log.tensorboard": True}
    varied = {**settings, "vary": {"training.learning_rate": [0.001, 0.002]}}
    runs = saccade.study(varied, out=tmp_path / "s", jobs=1).runs
    files = plugin_event_multiplexer.EventMultiplexer().AddRunsFromDirectory(str(tmp_path / "s"))
    files.Reload()
    provider = data_provider.MultiplexerDataProvider(files, str(tmp_path / "s"))
    backend = backend_context.Context(base_plugin.TBContext(data_provider=provider))
    context = RequestContext()
    metadata = backend.hparams_metadata(context, "")
    experiment = get_experiment.Handler(
        context, backend, "", api_pb2.GetExperimentRequest()
    ).run()
    differing = {info.name for info in experiment.hparam_infos if info.differs}
    assert differing == {"training.learning_rate"} and len(metadata) == 2
    request = api_pb2.ListSessionGroupsRequest(
        start_index=0,
        slice_size=10,
        allowed_statuses=[api_pb2.STATUS_SUCCESS],
        col_params=[api_pb2.ColParams(metric=info.name) for info in experiment.metric_infos],
    )
    shown = groups.Handler(context, backend, "", request).run().session_groups
    assert len(shown) == 2
    for run in runs:
        (one,) = (
            group
            for group in shown
            if group.hparams["training.learning_rate"].number_value
            == run.config["training"]["learning_rate"]
        )
        assert one.hparams["training.episodes"].number_value == 2048
        assert one.hparams["model.core"].string_value == run.config["model"]["core"]
        assert one.hparams["log.tensorboard"].bool_value
        values = {value.name.tag: value.value for value in one.metric_values}
        assert values["test/error"] == pytest.approx(run.summary["test/error"], rel=1e-6)
