"""The training examples, shortened."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
import pytest
import saccade
from training_support import SMALL, SOURCES, assert_same_results


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SOURCES / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_optuna_tunes_and_prunes_by_the_callback(tmp_path):
    optuna = pytest.importorskip("optuna")
    tuning = example("tune_optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    study = tuning.tune(tmp_path / "all", trials=2, settings=SMALL)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "COMPLETE"]
    for trial in study.trials:
        run = saccade.Run(tmp_path / "all" / f"trial-{trial.number}")
        assert run.config["training"]["learning_rate"] == trial.params["learning_rate"]
        assert trial.value == run.summary["valid/error"]
        assert sorted(trial.intermediate_values) == [1024, 2048]

    none = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=1), pruner=optuna.pruners.ThresholdPruner(upper=0.0)
    )
    none.optimize(lambda trial: tuning.objective(trial, tmp_path / "none", SMALL), n_trials=1)
    (pruned,) = none.trials
    assert pruned.state.name == "PRUNED" and sorted(pruned.intermediate_values) == [1024]
    run = saccade.Run(tmp_path / "none" / "trial-0")
    assert not run.finished and run.metrics["episodes"] == [512, 1024]
    # It repeats the first trial and ends with the same result.
    assert pruned.params == study.trials[0].params
    rate = {"training.learning_rate": pruned.params["learning_rate"]}
    saccade.train("quickstart", {**SMALL, **rate}, out=run.path, resume=True)
    assert_same_results(run.path, tmp_path / "all" / "trial-0")


def test_the_example_of_own_images_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shapes = example("own_images")
    images, labels = shapes.draw(200, seed=1)
    assert images.shape == (200, 24, 24, 3) and images.dtype == np.uint8
    areas = [(images[labels == c].max(axis=3) > 0).sum(axis=(1, 2)).mean() for c in range(4)]
    assert min(areas) > 50 and len(set(areas)) == 4
    run = shapes.train(tmp_path / "run", episodes=512, count=300)
    assert run.finished and run.config["training"]["episodes"] == 512
    assert run.config["data"]["source"] == "idx"


def test_the_example_in_ap_gyms_own_environment_runs(tmp_path):
    pytest.importorskip("ap_gym", reason="needs ap-gym")
    pytest.importorskip("PIL", reason="needs Pillow")
    short = {"training.episodes": 128, "evaluation.every": 128, "evaluation.scenes": 100}
    run = example("ap_gym_world").train(tmp_path / "run", episodes=128, **short)
    assert run.finished and run.config["scene"]["kind"] == "own_world"
    assert run.config["scene"]["glimpse_size"] == 25
