"""Training and evaluation, with the same files and the same bytes as on the command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import _saccade
from ._arguments import MAX_SCENES, as_flag, as_integer, as_number
from ._images import keep_images
from ._labelled import kind_of
from ._listening import Listener, log
from ._own_parts import OwnParts
from ._settings import Config, Settings, as_called, experiment, with_seed
from ._training import Row, Training, as_listening
from .runs import PathLike, Run, Study
from .sinks import Sink


def train(
    config: Config,
    overrides: Settings | None = None,
    *,
    images: Any = None,
    labels: Any = None,
    test_images: Any = None,
    test_labels: Any = None,
    class_names: Sequence[str] | None = None,
    scenes: Any = None,
    valid_scenes: Any = None,
    test_scenes: Any = None,
    world: Callable[[int], Any] | None = None,
    reward: Callable[..., Any] | None = None,
    seed: int | None = None,
    out: PathLike | None = None,
    resume: bool = False,
    threads: int = 0,
    callback: Callable[[Row], object] | Callable[[Row, Training], object] | None = None,
    sinks: Sequence[Sink] = (),
    progress: bool = False,
) -> Run:
    """Trains an agent, tests it at the end, and returns its run folder. `saccade run` with the same
    settings writes the same bytes.

    config: a YAML file, the name of a preset (see `presets`), or a dict with nested or dotted keys.
    overrides: settings that replace those of `config`, by dotted keys: {"training.episodes":
        100_000}.
    images, labels: your own data instead of the configuration's. Images are an array or tensor (N,
        rows, cols), (N, rows, cols, 1 or 3) or (N, 1 or 3, rows, cols) of bytes or of floats in
        [0, 1]; labels (N) are classes 0 to C - 1 or strings. Or `images` alone is a dataset of
        (image, label) or an iterable of batches, such as PyTorch's Dataset and DataLoader. They are
        stored in the cache folder ($XDG_CACHE_HOME/saccade or ~/.cache/saccade) for later use of
        the run.
    test_images, test_labels: the same for the test; by default a random sixth of the images, always
        the same one, is the test set.
    class_names: names of the classes 0 to C - 1; by default those of the dataset, or the distinct
        string labels, sorted.
    scenes: your own scenes instead of the configuration's: an object with a method `canvases`, as
        `saccade.scenes.Scenes`, or what `saccade.scenes.from_arrays`, `from_dataset` or
        `from_generator` returns. It is called ahead of time, with the scenes of a batch, by a thread
        of its own; the log says which share of the time the updates waited for it. The
        configuration gets scene.kind: own, with the canvas and the classes.
    valid_scenes, test_scenes: the same for validation and test. By default they are scenes of
        `scenes`: of a number of scenes a sixth each, held out from training, always the same ones;
        of endless ones those from the numbers 2**61 and 2**62 on.
    world: your own world instead of scenes on canvases: a function of a number of episodes that makes
        them, such as a class as `saccade.worlds.World`, or what `saccade.worlds.from_vector_env`
        returns. It gives the glimpses, and asks for a class or takes actions. It is called once a
        lane and step, by the threads that train. The configuration gets scene.kind: own_world or
        own_game.
    reward: what the looks earn instead of reinforce.reward: a function of (probabilities (T, B, C)
        of the classes after each look, labels (B), facts) that returns (T, B), finite numbers: what
        look t earns in episode b. facts is a dict with the `boxes` (B, K, 4) of the digits in pixels
        and the `locations` (T, B, L) of the looks. It is called once a lane, by any thread, in no
        fixed order, so its result must depend on its arguments alone; then runs repeat with any
        number of threads. The configuration gets reinforce.reward: own.
    seed: the setting `seed`.
    out: the run folder; by default runs/<name>/<overrides>/seed-<n>. An existing run is an
        InputError unless `resume`.
    resume: continue from the last checkpoint of an existing run.
    threads: the number of threads; 0 for all processors. The results do not depend on it.
    callback: called with each row of metrics.csv as a dict, on this thread, and with a
        `saccade.Training` if it takes a second argument: the agent at that row, the learning rate,
        a checkpoint. If it returns True, the run is saved and stopped, and can be resumed. The same
        happens if the callback raises, or at Ctrl-C; the exception then propagates.
    sinks: where the settings, the rows and the test figures also go: `saccade.sinks.WandB()`,
        `saccade.sinks.MLflow()`, or objects as `saccade.sinks.Sink`.
    progress: show a progress bar (needs tqdm). Notes go to the logger "saccade".

    A setting that has no effect with the chosen kinds produces a warning.
    """
    own = OwnParts(scenes, valid_scenes, test_scenes, world, reward, class_names, images)
    names = None if own.shows else class_names  # those of scenes or a world are in own.settings
    kept = keep_images(images, labels, test_images, test_labels, names)
    chosen = experiment(config, with_seed(overrides, seed), kept, own.settings)
    command = as_called(
        "train",
        config,
        *_given(overrides),
        **_shown(images, labels, test_images, test_labels, class_names),
        **own.named,
        seed=seed,
        out=out,
    )
    listening = as_listening(callback, ("row",))
    _warn_of_unused(chosen)
    ending = "the training was saved and stopped"
    with Listener(listening, progress, sinks) as listener, own.used(ending):
        folder = _saccade.train(
            chosen, _path(out), as_flag("resume", resume), _threads(threads), command, listener, own
        )
    run = Run(folder)
    if not run.finished:
        log.info("%s: stopped and saved; resume=True continues", run.path)
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
    scenes: Any = None,
    valid_scenes: Any = None,
    test_scenes: Any = None,
    world: Callable[[int], Any] | None = None,
    reward: Callable[..., Any] | None = None,
    out: PathLike | None = None,
    jobs: int = 0,
    threads: int = 0,
    callback: Callable[[Row, Path], object]
    | Callable[[Row, Path, Training], object]
    | None = None,
    sinks: Sequence[Sink] = (),
    progress: bool = False,
) -> Study:
    """Trains every run of a study (a configuration with `vary` or `seeds`) and compares them, as
    `saccade run` does. Finished runs are skipped, and stopped ones are resumed.

    Arguments as for `train`; all runs share the scenes, the world and the reward, which several
    threads may then call in turn. And:
    out: the study folder; by default runs/<name>.
    jobs: the number of simultaneous runs, which share the threads; 0 for one per thread.
    callback: called with a row, the folder of its run and, if it takes a third argument, a
        `saccade.Training`. If it returns True, the study stops; the same call continues it.

    A failed run is logged and does not stop the others; at the end it raises a RuntimeError. Runs
    that another process is training are left to it, so several processes can share a study.
    """
    own = OwnParts(scenes, valid_scenes, test_scenes, world, reward, class_names, images)
    names = None if own.shows else class_names  # those of scenes or a world are in own.settings
    kept = keep_images(images, labels, test_images, test_labels, names)
    chosen = experiment(config, overrides, kept, own.settings)
    data = _shown(images, labels, test_images, test_labels, class_names)
    command = as_called("study", config, *_given(overrides), **data, **own.named, out=out)
    _warn_of_unused(chosen)
    listening = as_listening(callback, ("row", "folder"))
    with Listener(listening, progress, sinks) as listener, own.used("a run was saved and stopped"):
        workers = _threads(threads)
        folder = _saccade.train_study(chosen, _path(out), own.jobs(jobs), workers, command, listener, own)
    return Study(folder)


def evaluate(
    run: PathLike,
    episodes: int | None = None,
    threads: int = 0,
    draws: int | None = None,
    *,
    stop: float | None = None,
    stop_error: float | None = None,
    stop_looks: float | None = None,
    other_scenes: Settings | None = None,
    scenes: Any = None,
    valid_scenes: Any = None,
    test_scenes: Any = None,
    world: Callable[[int], Any] | None = None,
) -> dict[str, Any]:
    """Tests the best checkpoint of a run (the last one if there is no best yet), as `saccade eval`
    does. Returns the figures by metric name, shares in [0, 1].

    run: a Run, its folder, an Agent, or the name of a trained agent.
    episodes: the number of test scenes; by default that of the run's configuration.
    threads: the number of threads; 0 for all processors.
    draws: how many times each test digit is shown, in a new scene each time; by default that of the
        configuration.
    stop: the agent stops looking once its highest class probability is above this, between 0 and 1.
        By default the threshold is chosen on the validation scenes: that of the fewest looks with
        the error of all looks,
    stop_error: or with at most this error, a share;
    stop_looks: or that of the least error with at most so many mean looks.
    other_scenes: settings of scenes other than those it was trained on, as far as its network
        allows: {"scene.num_distractors": 16}. Then "test/other_scenes" has what differs.
    scenes, valid_scenes, test_scenes, world: as for `train`: your own, as it was trained on or other
        ones, likewise.
    """
    threshold, most_error, most_looks = (
        None if value is None else as_number(name, value)
        for name, value in (("stop", stop), ("stop_error", stop_error), ("stop_looks", stop_looks))
    )
    shown, times = (
        None if value is None else as_integer(name, value, 1, MAX_SCENES)
        for name, value in (("episodes", episodes), ("draws", draws))
    )
    own = OwnParts(scenes, valid_scenes, test_scenes, world)
    overrides = own.overrides(other_scenes)
    with own.used("the test was stopped"):
        figures: dict[str, Any] = _saccade.evaluate(
            Path(run),
            shown,
            times,
            _threads(threads),
            threshold,
            most_error,
            most_looks,
            overrides,
            own,
        )
    return figures


def _warn_of_unused(chosen: _saccade.ExperimentSource) -> None:
    for line in _saccade.unused_settings(chosen):
        warnings.warn(line, stacklevel=3)


def _threads(threads: int) -> int:
    return as_integer("threads", threads, 0, 1024)


def _path(out: PathLike | None) -> Path | None:
    return None if out is None else Path(out)


def _given(overrides: Settings | None) -> list[Settings]:
    return [overrides] if overrides else []


def _shown(*data: Any) -> dict[str, Any]:
    names = ("images", "labels", "test_images", "test_labels")
    shown = {name: kind_of(each) for name, each in zip(names, data, strict=False)}
    return {**shown, "class_names": data[-1]}
