"""The number of threads is an argument of everything that computes."""

import inspect
import importlib

import numpy as np
import pytest
import saccade
from test_agents import runs, some_images  # noqa: F401

MODULES = [
    "saccade",
    "saccade.data",
    "saccade.envs",
    "saccade.scenes",
    "saccade.sinks",
    "saccade.worlds",
]
CLIENTS = {"saccade.sb3": "stable_baselines3", "saccade.ap_gym": "ap_gym", "saccade.torch": "torch"}

# What has no threads to choose, and why.
WITHOUT = {
    # Values, errors and interfaces.
    "saccade.InputError": "",
    "saccade.Look": "",
    "saccade.Rollout": "",
    "saccade.State": "",
    "saccade.envs.FAMILIES": "",
    "saccade.scenes.Scenes": "",
    "saccade.worlds.World": "",
    "saccade.worlds.PlayedWorld": "",
    # Their functions have the argument.
    "saccade.Comparison": "compare",
    "saccade.Recording": "record",
    "saccade.Trace": "load",
    "saccade.Training": "train",
    "saccade.torch.look": "Canvases",
    # They read and write files, or list names.
    "saccade.Metrics": "",
    "saccade.Run": "agent has it",
    "saccade.Study": "reads figures",
    "saccade.presets": "",
    "saccade.trained_agents": "",
    "saccade.data.download": "",
    "saccade.data.names": "",
    "saccade.sinks.Log": "",
    "saccade.sinks.Sink": "",
    "saccade.sinks.MLflow": "",
    "saccade.sinks.WandB": "",
    # One environment, which is played by the thread that calls it.
    "saccade.envs.GlimpseEnv": "",
    "saccade.ap_gym.ActiveGlimpseEnv": "",
    "saccade.ap_gym.make": "",
    # Python code, called by whoever trains.
    "saccade.scenes.from_arrays": "train",
    "saccade.scenes.from_dataset": "train",
    "saccade.scenes.from_generator": "train",
    "saccade.worlds.from_vector_env": "train",
}


def public(module_name):
    module = importlib.import_module(module_name)
    for name in module.__all__:
        thing = getattr(module, name)
        if not inspect.ismodule(thing) and not isinstance(thing, str):
            yield f"{module_name}.{name}", thing


def names_and_things():
    modules = [*MODULES]
    for module, needs in CLIENTS.items():
        if importlib.util.find_spec(needs):
            modules.append(module)
    return [pair for module in modules for pair in public(module)]


def has_threads(thing):
    try:
        parameter = inspect.signature(thing).parameters.get("threads")
    except ValueError:  # made in C, or without a constructor of its own
        return False
    return parameter is not None and parameter.default == 0


def test_whatever_computes_takes_a_number_of_threads():
    found = dict(names_and_things())
    lacking = [name for name, thing in found.items() if name not in WITHOUT and not has_threads(thing)]
    assert lacking == []
    needless = [name for name in WITHOUT if name in found and callable(found[name]) and has_threads(found[name])]
    assert needless == []
    if all(importlib.util.find_spec(needs) for needs in CLIENTS.values()):
        assert set(WITHOUT) <= set(found)
    assert has_threads(saccade.Run.agent)


def allowed(call):
    for threads in (-1, 1025, 1.0, True):
        with pytest.raises(saccade.InputError, match="threads"):
            call(threads)


def test_other_numbers_are_refused(runs):  # noqa: F811
    allowed(lambda threads: saccade.load(runs["points"], threads=threads))
    allowed(lambda threads: saccade.evaluate(runs["points"], threads=threads))
    allowed(lambda threads: saccade.compare(runs["points"], threads=threads))
    allowed(lambda threads: saccade.record(runs["points"], threads=threads))
    allowed(lambda threads: saccade.train("quickstart", threads=threads))
    allowed(lambda threads: saccade.study("hard_vs_soft", threads=threads))
    allowed(lambda threads: saccade.envs.GlimpseVectorEnv(2, data="synthetic", threads=threads))


def test_saliency_does_not_depend_on_them(runs):  # noqa: F811
    one, two = (
        saccade.load(runs["smooth"], threads=threads).saliency(some_images(21)) for threads in (1, 2)
    )
    assert set(one) == set(two)
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


@pytest.mark.parametrize("file", ["looks.png", "looks.gif"])
def test_recordings_do_not_depend_on_them(runs, tmp_path, file):  # noqa: F811
    agents = [runs[way] for way in ("points", "grid", "window", "points")]
    names = ["a", "b", "c", "d"]
    one, two = (
        saccade.record(agents, scenes=3, names=names, threads=threads)
        .save(tmp_path / f"{threads}-{file}")
        .read_bytes()
        for threads in (1, 2)
    )
    assert one == two


def test_comparisons_on_other_scenes_do_not_depend_on_them(runs, tmp_path):  # noqa: F811
    one, two = (
        saccade.compare(
            runs["points"],
            runs["grid"],
            out=tmp_path / str(threads),
            other_scenes={"scene.border": 1},
            threads=threads,
        ).to_dict()
        for threads in (1, 2)
    )
    assert [v["test/error"] for v in one["variants"]] == [v["test/error"] for v in two["variants"]]
