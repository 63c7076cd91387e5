"""The number of threads is an argument of everything that computes; calls from several threads."""

import inspect
import importlib
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import saccade
from env_cases import assert_same, make_vec
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


# ---- Environments that several threads call at once


def at_once(work, beside):
    """Calls each of `work` once and, until they have all returned, each of `beside` over and over."""
    start = threading.Barrier(len(work) + len(beside))
    done = threading.Event()

    def once(call):
        start.wait()
        call()

    def again(call):
        start.wait()
        call()
        while not done.is_set():
            call()

    with ThreadPoolExecutor(len(work) + len(beside)) as pool:
        repeated = [pool.submit(again, call) for call in beside]
        finished = [pool.submit(once, call) for call in work]
        try:
            for each in finished:
                each.result()
        finally:
            done.set()
        for each in repeated:
            each.result()


def bits(state):
    return pickle.dumps([np.asarray(part).tolist() for part in state.place])


def test_a_state_is_never_that_of_half_a_step():
    """One action and one seed, so that steps and resets in any order pass through the same states."""
    count, num_steps = 256, 20  # of each of two threads
    settings = {"num_glimpses": 4, "threads": 1, "render_mode": "rgb_array"}
    envs, alone, other = (make_vec("Cluttered60", count, **settings) for _ in range(3))
    action = {"location": np.zeros((count, 2), np.float32), "answer": np.zeros(count, int)}

    alone.reset(seed=3)
    begin = alone.clone_state()
    canvases, pictures, results = set(), set(), {}
    for _ in range(2 * num_steps + 1):
        state = bits(alone.clone_state())
        canvases.add(alone.canvases().tobytes())
        pictures.add(alone._worlds.render(count - 1).tobytes())
        results[state] = alone.step(action)

    envs.reset(seed=3)
    cloned, shown, drawn = {}, set(), set()

    def clone():
        state = envs.clone_state()
        cloned[bits(state)] = state

    def times(number, call):
        return lambda: [call() for _ in range(number)]

    at_once(
        [
            times(num_steps, lambda: envs.step(action)),
            times(num_steps, lambda: envs.step(action)),
            times(5, lambda: envs.reset(seed=3)),
            times(5, lambda: envs.restore_state(begin)),
            times(5, lambda: shown.add(envs.canvases().tobytes())),
            times(5, lambda: drawn.add(envs._worlds.render(count - 1).tobytes())),
        ],
        [clone, clone],
    )
    assert cloned.keys() <= results.keys()
    assert shown <= canvases and drawn <= pictures
    for key, state in cloned.items():
        other.restore_state(state)
        assert_same(other.step(action), results[key])


def test_settings_change_while_other_threads_look():
    settings = {"num_glimpses": 3, "threads": 1, "render_mode": "rgb_array"}
    envs, twin = (make_vec("Cluttered60", 40, num_distractors=d, **settings) for d in (0, 8))
    envs.reset(seed=3)
    actions = envs.action_space.sample()

    def change():
        for number in range(20):
            envs.set_attr("num_distractors", 1 + number % 8)
        envs.set_attr("num_distractors", 8)

    at_once(
        [change],
        [
            lambda: envs.step(actions),
            lambda: envs._worlds.render(0),
            lambda: envs._worlds.render(1),
            lambda: envs.get_attr("num_distractors"),
            lambda: pickle.loads(pickle.dumps(envs)).step(actions),
        ],
    )
    assert envs.get_attr("num_distractors") == (8,) * 40
    assert_same(envs.reset(seed=5), twin.reset(seed=5))
    assert_same(envs.step(actions), twin.step(actions))
    assert len(envs._worlds.native.settings) == 1


def test_a_trace_can_be_differentiated_by_several_at_once(runs):  # noqa: F811
    trace = saccade.load(runs["grid"], threads=1).trace(some_images(40))
    given = np.random.default_rng(1).normal(size=(12, *trace.logits.shape)).astype(np.float32)
    wanted = [trace.gradients(each)[1] for each in given]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(pool.map(trace.gradients, given), wanted):
            np.testing.assert_array_equal(one[1], other)
