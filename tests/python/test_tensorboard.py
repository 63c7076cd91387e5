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
    assert set(events.Tags()["scalars"]) == columns
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
