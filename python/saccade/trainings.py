"""Trainings and evaluations as the command line has them: the same files, and the same bytes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import _saccade
from ._images import keep_images
from ._labelled import kind_of
from ._listening import Listener, Row, log
from ._settings import Config, Settings, as_called, experiment, with_seed
from .runs import PathLike, Run, Study


def train(
    config: Config,
    overrides: Settings | None = None,
    *,
    images: Any = None,
    labels: Any = None,
    test_images: Any = None,
    test_labels: Any = None,
    class_names: Sequence[str] | None = None,
    seed: int | None = None,
    out: PathLike | None = None,
    resume: bool = False,
    threads: int = 0,
    callback: Callable[[Row], object] | None = None,
    progress: bool = False,
) -> Run:
    """Trains an agent, tests it at the end, and returns its run folder. The same settings from the
    command line (`saccade run`) leave the same bytes.

    config: a YAML file, the name of a preset (see `presets`), or a dict with nested or dotted keys.
    overrides: settings over it by their dotted keys, {"training.episodes": 100_000}.
    images, labels: own data instead of the configuration's: an array or tensor (N, rows, cols),
        (N, rows, cols, 1 or 3) or (N, 1 or 3, rows, cols), bytes or floats in [0, 1], and classes
        (N), 0 to C - 1 or text; or, as `images` alone, a data set of (image, label) or batches of
        these, as PyTorch's Dataset and DataLoader. They are kept in the cache folder
        ($XDG_CACHE_HOME/saccade or ~/.cache/saccade), where the run finds them later.
    test_images, test_labels: the same for the test; by default a random sixth of the images, the
        same each time, is kept for it.
    class_names: of the classes 0 to C - 1; by default those of the data set, or the labels that are
        text, sorted.
    seed: of the run, as the setting `seed`.
    out: the run folder; by default runs/<name>/<overrides>/seed-<n>. One that is there is left as
        it is, which is an InputError, unless `resume` goes on from its last checkpoint.
    threads: 0 for all processors; the results do not depend on it.
    callback: called with each row of metrics.csv as a dict, on this thread. If it returns True, the
        training saves, stops, and can be resumed. So it does if the callback raises, or at Ctrl-C,
        and then that exception leaves.
    progress: show a bar (needs tqdm). Else nothing is shown; notes go to the logger "saccade".

    A setting that was given and that the chosen kinds do not read is a warning.
    """
    data = _shown(images, labels, test_images, test_labels, class_names)
    kept = keep_images(images, labels, test_images, test_labels, class_names)
    said = experiment(config, with_seed(overrides, seed), kept)
    command = as_called("train", config, *_given(overrides), **data, seed=seed, out=out)
    told = None if callback is None else _of_row(callback)
    _warn_of_unused(said)
    with Listener(told, progress) as listener:
        folder = _saccade.train(said, _path(out), resume, threads, command, listener)
    run = Run(folder)
    if not run.finished:
        log.info("%s: stopped and saved; resume=True goes on", run.path)
    return run


def study(
    config: Config,
    overrides: Settings | None = None,
    *,
    images: Any = None,
    labels: Any = None,
    test_images: Any = None,
    test_labels: Any = None,
    class_names: Sequence[str] | None = None,
    out: PathLike | None = None,
    jobs: int = 0,
    threads: int = 0,
    callback: Callable[[Row, Path], object] | None = None,
    progress: bool = False,
) -> Study:
    """Trains every run of a study - a configuration with `vary` or `seeds` - and compares them, as
    `saccade run` does. It goes on from where it is: runs that are finished are left as they are.

    Arguments as for `train`, and:
    out: the folder of the study; by default runs/<name>.
    jobs: runs at once, which divide the threads; 0 for as many as there are threads.
    callback: called with a row and the folder of its run. If it returns True, the study stops, and
        the same call goes on.

    A run that fails is logged and does not stop the others; at the end that is a RuntimeError.
    Runs that another process is training are left to it: several divide a study among them.
    """
    data = _shown(images, labels, test_images, test_labels, class_names)
    kept = keep_images(images, labels, test_images, test_labels, class_names)
    said = experiment(config, overrides, kept)
    command = as_called("study", config, *_given(overrides), **data, out=out)
    _warn_of_unused(said)
    with Listener(callback, progress) as listener:
        return Study(_saccade.train_study(said, _path(out), jobs, threads, command, listener))


def evaluate(
    run: PathLike, episodes: int | None = None, threads: int = 0, draws: int | None = None
) -> dict[str, Any]:
    """Tests the best checkpoint of a run (its last, where there is no best yet) on the test set, as
    `saccade eval` does. Returns the figures by the names of the metrics, shares in [0, 1].

    run: a Run, its folder, an Agent, or the name of a trained agent.
    episodes: test scenes; by default as the run's configuration says.
    draws: so many draws of them, for the same digits; by default likewise.
    """
    figures: dict[str, Any] = json.loads(_saccade.evaluate(Path(run), episodes, draws, threads))
    return figures


def _warn_of_unused(said: _saccade.Said) -> None:
    for line in _saccade.unused_settings(said):
        warnings.warn(line, stacklevel=3)


def _path(out: PathLike | None) -> Path | None:
    return None if out is None else Path(out)


def _of_row(callback: Callable[[Row], object]) -> Callable[[Row, Path], object]:
    if not callable(callback):
        return callback  # which is refused where it is taken
    return lambda row, folder: callback(row)


def _given(overrides: Settings | None) -> list[Settings]:
    return [overrides] if overrides else []


def _shown(*data: Any) -> dict[str, Any]:
    names = ("images", "labels", "test_images", "test_labels")
    shown = {name: kind_of(each) for name, each in zip(names, data, strict=False)}
    return {**shown, "class_names": data[-1]}
