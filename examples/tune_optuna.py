"""Tunes the learning rate with Optuna, which prunes trials that fall behind.

Saccade has no search of its own. A run passes its rows to a callback, and an exception from the
callback ends the run, saved and resumable. Optuna needs no more.

    pip install optuna
    python examples/tune_optuna.py

A dozen short runs on synthetic digits: about half a minute on 2 cores.
"""

import argparse
from pathlib import Path

import optuna
import saccade

# The preset of `make run`, shortened: enough to tell a good rate from a bad one.
SETTINGS = {
    "training.episodes": 60_000,
    "evaluation.every": 10_000,
    "evaluation.scenes": 2_000,
    "log.every": 10_000,
}


def objective(trial: optuna.Trial, out: Path, settings: dict) -> float:
    """The lowest validation error. The test is only for the chosen trial."""
    learning_rate = trial.suggest_float("learning_rate", 1e-4, 3e-2, log=True)

    def callback(row: dict) -> None:
        if "valid/error" not in row:
            return
        trial.report(row["valid/error"], row["episodes"])
        if trial.should_prune():
            raise optuna.TrialPruned

    run = saccade.train(
        "quickstart",
        {**settings, "training.learning_rate": learning_rate},
        out=out / f"trial-{trial.number}",
        callback=callback,
    )
    return run.summary["valid/error"]


def tune(out: Path, trials: int, settings: dict = SETTINGS) -> optuna.Study:
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=1),
        # From its third evaluation on, prunes a trial whose error is above the median of the
        # earlier trials.
        pruner=optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=20_000),
    )
    study.optimize(lambda trial: objective(trial, out, settings), n_trials=trials)
    return study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/tuned"))
    parser.add_argument("--trials", type=int, default=12)
    options = parser.parse_args()

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = tune(options.out, options.trials)
    for trial in study.trials:
        print(
            f"{trial.number:3}  rate {trial.params['learning_rate']:.5f}  {trial.state.name:8}"
            f"  error {100 * trial.value:5.2f} %  after {trial.last_step} episodes"
        )
    best = saccade.Run(options.out / f"trial-{study.best_trial.number}")
    print(
        f"best: {best.path}, validation {100 * study.best_value:.2f} %, "
        f"test {100 * best.summary['test/error']:.2f} %"
    )


if __name__ == "__main__":
    main()
