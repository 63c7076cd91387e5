"""Trained agents: rollouts, single steps, parameters, saliency, videos."""

import copy
import os
import pathlib
import pickle
import shutil
import subprocess

import numpy as np
import pytest

import saccade

SMALL = {
    "name": "small",
    "data": {"source": "synthetic"},
    "scene": {"kind": "translated", "canvas": [32, 36]},
    "retina": {"patch_size": 8, "scales": 2},
    "model": {"hidden_size": 32, "glimpse_hidden": 16, "location_hidden": 16, "feature_size": 32},
    "training": {"episodes": 256, "batch_size": 64, "lane_size": 32},
    "evaluation": {"every": 256, "scenes": 60, "rollouts": 2},
}
WAYS = {
    "points": {"kind": "hard_gaussian", "num_glimpses": 4},
    "smooth": {"kind": "soft_point", "num_glimpses": 4},
    "candidates": {"kind": "hard_categorical", "grid": [3, 3], "stride": 6, "num_glimpses": 4},
    "grid": {"kind": "soft_grid", "grid": [3, 3], "stride": 6, "num_glimpses": 4},
    "window": {"kind": "soft_gaussian", "filters": 6, "num_glimpses": 4},
}
Runs = dict[str, pathlib.Path]  # by the name of the mechanism


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The run folder of a small agent for each glimpse mechanism."""
    folder = tmp_path_factory.mktemp("agents")
    for name, glimpse in WAYS.items():
        config = {**SMALL, "attention": {"glimpse": glimpse}}
        saccade.train(config, out=folder / name, threads=1)
    return {name: folder / name for name in WAYS}


@pytest.fixture(params=WAYS)
def agent(request: pytest.FixtureRequest, runs: Runs) -> saccade.Agent:
    return saccade.load(runs[request.param], threads=1)


def some_images(count: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (count, 32, 36), dtype=np.uint8)


def test_shapes(agent: saccade.Agent) -> None:
    look = agent.rollout(some_images(3))
    assert look.locations.shape == (3, 4, 2)
    assert np.abs(look.locations).max() <= 1
    assert look.probabilities.shape == (3, 4, 10)
    np.testing.assert_allclose(look.probabilities.sum(axis=2), 1, atol=1e-5)
    assert look.glimpses is not None and look.glimpses.shape[:2] == (3, 4)
    assert look.glimpses.min() >= 0 and look.glimpses.max() <= 1
    np.testing.assert_array_equal(look.answers, look.probabilities[:, -1].argmax(axis=1))
    assert look.labels is None and look.errors is None
    for weights in look.weights.values():
        assert weights.shape[:2] == (3, 4)


def test_errors_follow_from_labels(agent: saccade.Agent) -> None:
    images = some_images(6)
    labels = agent.rollout(images).answers.astype(np.int64)
    labels[2] = (labels[2] + 1) % 10
    look = agent.rollout(images, labels=labels)
    np.testing.assert_array_equal(look.errors, [0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(look.labels, labels)


def test_scenes_match_eval(agent: saccade.Agent, program: str, tmp_path: pathlib.Path) -> None:
    """Bit-identical to `saccade eval --weights`, across the chunks of an evaluation."""
    file = tmp_path / "weights.npz"
    command = [program, "eval", agent.path, "--episodes", "150", "--weights", str(file)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    look = agent.rollout(scenes=150)
    with np.load(file) as written:
        more = {"probabilities", "glimpses", "states", "log_probabilities", "baselines", "boxes"}
        assert set(written.files) == set(look) - more
        for name in written.files:
            np.testing.assert_array_equal(look[name], written[name], err_msg=name)


def test_same_bits_for_any_number_of_threads(runs: Runs) -> None:
    first, second = (
        saccade.load(runs["points"], threads=threads).rollout(scenes=250) for threads in (1, 2)
    )
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


def test_samples_depend_on_seed_and_sample(runs: Runs) -> None:
    agent = saccade.load(runs["points"])
    images = some_images(4)

    def locations(**request: int) -> np.ndarray:
        return agent.rollout(images, readout="sampled", **request).locations

    np.testing.assert_array_equal(locations(seed=1), locations(seed=1))
    assert (locations(seed=1) != locations(seed=2)).any()
    assert (locations(seed=1) != locations(seed=1, sample=1)).any()
    assert (locations(seed=1) != agent.rollout(images).locations).any()


def test_the_seed_is_that_of_evaluations_by_default(runs: Runs) -> None:
    agent, images = saccade.load(runs["points"]), some_images(4)
    seed = saccade.Run(runs["points"]).config["evaluation"]["seed"]
    assert seed > 0

    def steps(**request: int) -> np.ndarray:
        return agent.step(agent.start(images, readout="sampled", **request)).next_locations

    for play in (
        lambda **request: agent.rollout(images, readout="sampled", **request).locations,
        lambda **request: agent.rollout(scenes=4, readout="sampled", **request).locations,
        lambda **request: agent.trace(images, readout="sampled", **request).logits,
        steps,
    ):
        np.testing.assert_array_equal(play(), play(seed=seed))
        assert (play() != play(seed=0)).any()


def test_single_steps_match_a_rollout(agent: saccade.Agent) -> None:
    images = some_images(3)
    whole = agent.rollout(images)
    state = agent.start(images)
    for t in range(agent.num_glimpses):
        look = agent.step(state)
        np.testing.assert_array_equal(look.locations, whole.locations[:, t])
        np.testing.assert_array_equal(look.probabilities, whole.probabilities[:, t])
        np.testing.assert_array_equal(look.glimpses, whole.glimpses[:, t])
        if t + 1 < agent.num_glimpses:
            np.testing.assert_array_equal(look.next_locations, whole.locations[:, t + 1])
        else:
            assert look.next_locations is None
    with pytest.raises(saccade.InputError, match="the episode has ended after 4 glimpses"):
        agent.step(state)


def test_a_copied_state_is_independent(runs: Runs) -> None:
    agent = saccade.load(runs["points"])
    state = agent.start(some_images(3))
    agent.step(state)
    other = state.copy()
    corner = agent.step(other, locations=np.full((3, 2), 0.75))
    assert (corner.locations == 0.75).all()
    own = agent.step(state)
    assert (own.locations != 0.75).all()
    assert (agent.step(other).probabilities != agent.step(state).probabilities).any()


def test_glimpses_can_come_from_the_caller(runs: Runs) -> None:
    """As from an environment: the same glimpses give the same probabilities."""
    agent = saccade.load(runs["points"])
    whole = agent.rollout(some_images(3))
    state = agent.start(size=3)
    for t in range(agent.num_glimpses):
        look = agent.step(state, whole.locations[:, t], whole.glimpses[:, t])
        np.testing.assert_array_equal(look.probabilities, whole.probabilities[:, t])
        if t + 1 < agent.num_glimpses:
            np.testing.assert_array_equal(look.next_locations, whole.locations[:, t + 1])


def test_parameters_share_the_agents_memory(runs: Runs) -> None:
    agent = saccade.load(runs["points"])
    images = some_images(2)
    before = agent.rollout(images).probabilities
    weights = agent.parameters["classifier.weight"]
    assert weights.shape == (32, 10) and weights.dtype == np.float32
    weights[:] = 0
    agent.parameters["classifier.bias"][:] = 0
    np.testing.assert_allclose(agent.rollout(images).probabilities, 0.1)
    assert (before != 0.1).any()
    del agent
    assert (weights == 0).all()  # the memory outlives the agent


def test_the_parameter_mapping_is_read_only(runs: Runs) -> None:
    """Arrays are set with set_parameters, or in a copy with with_parameters."""
    agent = saccade.load(runs["points"])
    images = some_images(2)
    before = agent.rollout(images).probabilities
    zeros = {"classifier.weight": np.zeros((32, 10)), "classifier.bias": np.zeros((1, 10))}
    with pytest.raises(TypeError, match="does not support item assignment"):
        agent.parameters["classifier.weight"] = zeros["classifier.weight"]
    other = agent.with_parameters(zeros)
    np.testing.assert_allclose(other.rollout(images).probabilities, 0.1)
    np.testing.assert_array_equal(agent.rollout(images).probabilities, before)
    agent.set_parameters(zeros)
    np.testing.assert_allclose(agent.rollout(images).probabilities, 0.1)
    for weights, message in [
        ({"classifier": 0}, "weights: unknown name 'classifier'; allowed: glimpse."),
        ({"classifier.bias": np.zeros(10)}, r"weights\['classifier.bias'\]: shape \(10,\)"),
        ({"classifier.bias": np.full((1, 10), np.nan)}, "not finite"),
        ({"classifier.bias": np.full((1, 10), 1e39)}, r"1e\+39 to 1e\+39; allowed: the range of float32"),
        ([1], "weights: list; allowed: a dictionary"),
    ]:
        both = {"classifier.weight": np.ones((32, 10)), **weights} if weights != [1] else weights
        with pytest.raises(saccade.InputError, match=message):
            agent.set_parameters(both)
    np.testing.assert_allclose(agent.rollout(images).probabilities, 0.1)  # nothing was written


def test_edited_weights_can_be_saved(runs: Runs, tmp_path: pathlib.Path) -> None:
    agent = saccade.load(runs["points"])
    images = some_images(2)
    assert agent.save(tmp_path / "same.safetensors") == tmp_path / "same.safetensors"
    bias = np.arange(10, dtype=np.float32)[np.newaxis]
    edited = agent.with_parameters({"classifier.bias": bias})
    edited.save(tmp_path / "edited.safetensors")
    loaded = saccade.load(tmp_path / "edited.safetensors")
    np.testing.assert_array_equal(loaded.parameters["classifier.bias"], bias)
    np.testing.assert_array_equal(
        loaded.rollout(images).probabilities, edited.rollout(images).probabilities
    )
    np.testing.assert_array_equal(
        saccade.load(tmp_path / "same.safetensors").rollout(images).probabilities,
        agent.rollout(images).probabilities,
    )
    # Training continues from them: with a vanishing learning rate they do not change.
    still = {"training.learning_rate": 1e-12, "init_from": loaded}
    config = {**SMALL, "attention": {"glimpse": WAYS["points"]}}
    run = saccade.train(config, still, out=tmp_path / "run", threads=1)
    np.testing.assert_allclose(run.agent().parameters["classifier.bias"], bias, atol=1e-6)
    assert saccade.evaluate(tmp_path / "edited.safetensors")["test/error"] > 0.5


def test_save_refuses_invalid_arguments(runs: Runs, tmp_path: pathlib.Path) -> None:
    agent = saccade.load(runs["points"])
    with pytest.raises(saccade.InputError, match="allowed: a file name ending in .safetensors"):
        agent.save(tmp_path / "agent.npz")
    agent.save(tmp_path / "a.safetensors")
    with pytest.raises(saccade.InputError, match="exists already"):
        agent.save(tmp_path / "a.safetensors")
    agent.save(tmp_path / "a.safetensors", force=True)
    agent.parameters["classifier.bias"][:] = np.nan
    with pytest.raises(saccade.InputError, match="parameters: 'classifier.bias' has values that"):
        agent.save(tmp_path / "b.safetensors")
    assert not (tmp_path / "b.safetensors").exists()


def test_an_edited_agent_does_not_stand_for_its_run(runs: Runs, tmp_path: pathlib.Path) -> None:
    agent = saccade.load(runs["points"])
    before = agent.gradients(scenes=4, samples=3, rollouts=2)
    edited = agent.with_parameters({"classifier.bias": np.arange(10)[np.newaxis]})
    for each in (edited, copy.deepcopy(edited), pickle.loads(pickle.dumps(edited))):
        for call in (
            lambda: saccade.load(each),
            lambda: saccade.evaluate(each),
            lambda: saccade.compare(each, out=tmp_path / "comparison"),
        ):
            with pytest.raises(saccade.InputError, match="weights were changed; save"):
                call()
        with pytest.raises(saccade.InputError, match="agent: the weights were changed"):
            each.export(agent=tmp_path / "agent")
        assert each.gradients(scenes=4, samples=3, rollouts=2) != before
    agent.gradients()


@pytest.mark.parametrize("way", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies_of_agents(agent: saccade.Agent, way: object) -> None:
    images = some_images(3)
    twin = way(agent)
    one, other = agent.rollout(images), twin.rollout(images)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])
    assert os.fspath(twin) == agent.path
    for array in agent.parameters.values():
        array[:] = 0
    np.testing.assert_array_equal(twin.rollout(images).probabilities, one.probabilities)


def test_runs_and_agents_are_interchangeable(runs: Runs, tmp_path: pathlib.Path) -> None:
    folder = runs["points"]
    images = some_images(2)
    expected = saccade.load(folder).rollout(images).probabilities
    figures = saccade.evaluate(folder)
    alike = [folder, str(folder), saccade.Run(folder), saccade.load(folder)]
    for number, one in enumerate(alike):
        np.testing.assert_array_equal(saccade.load(one).rollout(images).probabilities, expected)
        assert saccade.evaluate(one) == figures
        assert saccade.Run(one).path == folder
        made = saccade.compare(one, out=tmp_path / f"comparison-{number}")
        assert len(made.to_dict()["variants"]) == 1
        saccade.record(one, images).save(tmp_path / f"{number}.png")
        assert len({file.read_bytes() for file in tmp_path.glob("*.png")}) == 1
    saccade.record([folder, saccade.Run(runs["grid"])], images).save(tmp_path / "two.gif")


def test_names_of_trained_agents_work_like_runs(tmp_path: pathlib.Path) -> None:
    names = saccade.trained_agents()
    if not names:
        pytest.skip("no trained agents are here")
    run = saccade.Run(names[0])
    assert run.finished and run.path.name == names[0]


@pytest.mark.parametrize("unrolled", [False, True])
def test_export_matches_the_program(
    runs: Runs, program: str, tmp_path: pathlib.Path, unrolled: bool
) -> None:
    agent = saccade.load(runs["points"])
    ours = [tmp_path / name for name in ("a.npz", "a.onnx", "a")]
    theirs = [tmp_path / name for name in ("b.npz", "b.onnx", "b")]
    assert agent.export(npz=ours[0], onnx=ours[1], agent=ours[2], unrolled=unrolled) == ours
    options = [word for pair in zip(("--npz", "--onnx", "--agent"), theirs) for word in pair]
    command = [program, "export", agent.path, *options, *["--unrolled"] * unrolled]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    np.testing.assert_array_equal(
        np.load(ours[0])["classifier.bias"], np.load(theirs[0])["classifier.bias"]
    )
    assert sorted(os.listdir(ours[2])) == sorted(os.listdir(theirs[2]))
    edited = agent.with_parameters({"classifier.bias": np.arange(10)[np.newaxis]})
    assert edited.export(npz=tmp_path / "c.npz") == [tmp_path / "c.npz"]
    assert np.load(tmp_path / "c.npz")["classifier.bias"].tolist() == [list(range(10))]


def test_states_and_baselines_match_the_networks(runs: Runs) -> None:
    """The classifier and the baseline, computed again from the states and the weights."""
    agent = saccade.load(runs["points"])
    look = agent.rollout(scenes=130)
    w = agent.parameters
    logits = look.states @ w["classifier.weight"] + w["classifier.bias"]
    exp = np.exp(logits - logits.max(axis=2, keepdims=True))
    np.testing.assert_allclose(
        look.probabilities, exp / exp.sum(axis=2, keepdims=True), atol=1e-5
    )
    assert look.baselines is not None and look.baselines.shape == (130, 4)
    before = np.concatenate([np.zeros_like(look.states[:, :1]), look.states[:, :-1]], axis=1)
    np.testing.assert_allclose(
        look.baselines, (before @ w["baseline.weight"])[..., 0] + w["baseline.bias"][0], atol=1e-5
    )


def test_log_probabilities_match_the_samples(runs: Runs) -> None:
    agent = saccade.load(runs["points"])
    look = agent.rollout(some_images(3), readout="sampled", seed=4)
    assert look.log_probabilities is not None
    w = agent.parameters
    hidden = np.maximum(
        0, look.states[:, :-1] @ w["locator.hidden.weight"] + w["locator.hidden.bias"]
    )
    mean = np.tanh(hidden @ w["locator.mean.weight"] + w["locator.mean.bias"])
    std = saccade.Run(runs["points"]).config["attention"]["glimpse"]["std"]
    std = std["to"] if isinstance(std, dict) else std
    apart = look.locations[:, 1:] - mean
    density = -(apart**2).sum(axis=2) / (2 * std**2) - np.log(2 * np.pi * std**2)
    inside = (np.abs(look.locations[:, 1:]) < 1).all(axis=2)
    np.testing.assert_allclose(look.log_probabilities[:, 1:][inside], density[inside], rtol=1e-3)
    assert (look.log_probabilities[:, 0] == 0).all()  # the first location is random
    grid = saccade.load(runs["candidates"]).rollout(some_images(3), readout="sampled")
    assert grid.log_probabilities is not None and (grid.log_probabilities[:, 1:] < 0).all()
    assert saccade.load(runs["window"]).rollout(some_images(3)).log_probabilities is None


def test_scenes_have_canvases_and_boxes(agent: saccade.Agent) -> None:
    """A rollout on these canvases gives the same glimpses."""
    look = agent.rollout(scenes=120, canvases=True)
    assert look.canvases is not None and look.boxes is not None
    assert look.canvases.shape == (120, 1, 32, 36) and look.boxes.shape == (120, 1, 4)
    for canvas, (x, y, width, height) in zip(look.canvases[:, 0], look.boxes[:, 0]):
        inside = canvas[max(y, 0) : y + height, max(x, 0) : x + width]
        assert inside.sum() == pytest.approx(canvas.sum(), rel=1e-5) and inside.sum() > 0
    assert agent.rollout(scenes=2).canvases is None
    assert agent.rollout(some_images(1)).boxes is None
    if not agent.path.endswith("window"):
        return  # the first location is sampled again
    again = agent.rollout(look.canvases, labels=look.labels)
    np.testing.assert_allclose(again.probabilities, look.probabilities, atol=1e-5)


def test_moving_scenes_have_a_canvas_per_glimpse(tmp_path: pathlib.Path) -> None:
    config = {**SMALL, "data": {}, "scene": {"kind": "catch", "canvas": [8, 8]}}
    config["attention"] = {"glimpse": {"num_glimpses": 10}}
    run = saccade.train(config, out=tmp_path / "catch", threads=1)
    look = run.agent().rollout(scenes=3, canvases=True)
    assert look.canvases is not None and look.canvases.shape == (3, 10, 1, 8, 8)
    assert look.boxes is not None and look.boxes.shape == (3, 10, 1, 4)
    for n, t in np.ndindex(3, 10):
        x, y, width, height = look.boxes[n, t, 0]
        assert (width, height) == (1, 1) and look.canvases[n, t, 0, y, x] == 1


def test_notebook_output(runs: Runs, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "<b>&"
    shutil.copytree(runs["points"], folder)
    run = saccade.Run(folder)
    agent = run.agent()
    look = agent.rollout(scenes=12)
    shown = [run._repr_html_(), agent._repr_html_(), look._repr_html_()]
    for text in shown:
        assert text.startswith("<table>") and "<b>" not in text
    assert "&lt;b&gt;&amp;" in shown[0] and "&lt;b&gt;&amp;" in shown[1]
    assert f"{100 * run.summary['test/error']:.2f}" in shown[0]
    assert "4 of 32 x 36 pixels" in shown[1] and "(changed)" not in shown[1]
    assert shown[2].count("<tr>") == 11 and "and 2 more" in shown[2]
    unlabelled = agent.rollout(some_images(2))._repr_html_()
    assert "label" not in unlabelled and unlabelled.count("<tr>") == 3


def test_torch_shares_the_parameters(runs: Runs) -> None:
    torch = pytest.importorskip("torch")
    agent = saccade.load(runs["points"])
    parameters = agent.parameters
    there = torch.from_dlpack(parameters["classifier.bias"])
    there += 1000 * torch.nn.functional.one_hot(torch.tensor(7), 10)
    assert (agent.rollout(some_images(2)).answers == 7).all()


def test_saliency_is_the_derivative(runs: Runs) -> None:
    """Compares the derivative for one pixel with a finite difference."""
    agent = saccade.load(runs["window"])
    images = np.full((1, 32, 36), 128, dtype=np.uint8)
    jacobian = agent.saliency(images)
    assert jacobian["canvas_jacobian"].shape == (1, 1, 1, 32, 36)
    chosen = int(jacobian["chosen"][0, 0])
    gradient = jacobian["canvas_jacobian"][0, 0, 0]
    row, col = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)

    def logit(change: int) -> float:
        changed = images.copy()
        changed[0, row, col] = 128 + change
        return float(agent.saliency(changed)["logits"][0, 0])

    assert int(agent.saliency(images)["chosen"][0, 0]) == chosen
    difference = (logit(16) - logit(-16)) / (32 / 255)
    assert difference == pytest.approx(float(gradient[row, col]), rel=0.1)


def test_gradients_returns_figures(runs: Runs) -> None:
    agent = saccade.load(runs["points"])
    figures = agent.gradients(scenes=4, samples=3, rollouts=2)
    assert {"none", "learned", "leave_one_out"} <= set(figures["estimators"])
    assert figures["estimators"]["learned"]["variance"] > 0
    agent.parameters["locator.hidden.weight"][:] *= 2  # in memory alone
    assert agent.gradients(scenes=4, samples=3, rollouts=2) != figures
    with pytest.raises(saccade.InputError, match="does not learn by REINFORCE"):
        saccade.load(runs["grid"]).gradients()


def test_recordings(agent: saccade.Agent, tmp_path: pathlib.Path) -> None:
    recording = saccade.record(agent, some_images(2))
    path = recording.save(tmp_path / "looks.gif")
    assert path.read_bytes()[:6] == b"GIF89a"
    assert path.read_bytes() == recording.gif()
    with pytest.raises(saccade.InputError, match="exists already"):
        recording.save(path)
    assert recording._repr_html_().startswith('<img src="data:image/gif;base64,R0lGOD')
    sheet = saccade.record(agent, scenes=2).save(tmp_path / "looks.png")
    assert sheet.read_bytes()[:4] == b"\x89PNG"


def test_recordings_of_several_agents(runs: Runs, tmp_path: pathlib.Path) -> None:
    agents = [saccade.load(runs[name]) for name in ("points", "grid")]
    both = saccade.record(agents, some_images(1), names=["hard", "soft"]).save(tmp_path / "a.gif")
    one = saccade.record(agents[0], some_images(1)).save(tmp_path / "b.gif")
    assert both.stat().st_size > one.stat().st_size
    with pytest.raises(saccade.InputError, match="names: 1 for 2 agents"):
        saccade.record(agents, names=["hard"])


def test_an_agent_loads_from_a_checkpoint(runs: Runs) -> None:
    file = runs["grid"] / "checkpoints" / "last.safetensors"
    look = saccade.load(file).rollout(some_images(2))
    assert look.weights["glimpse_weights"].shape == (2, 4, 9)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((2, 30, 36), np.uint8), "images: 2 of 30 x 36 pixels"),
        (np.zeros((2, 32, 36, 3), np.uint8), "3 channels; allowed: one and more of 32 x 36 and 1"),
        (np.zeros((0, 32, 36), np.uint8), "N at least 1"),
        (np.zeros((2, 32, 36), np.int64), "an array of int64; allowed: uint8, or numbers in"),
        (np.full((2, 32, 36), 1.5), "1.5 to 1.5; allowed: 0.0 to 1.0"),
        (np.full((2, 32, 36), np.nan), "not finite"),
        ("pictures", "images: shape"),
    ],
)
def test_invalid_images_are_refused(runs: Runs, images: object, message: str) -> None:
    with pytest.raises(saccade.InputError, match=message):
        saccade.load(runs["points"]).rollout(images)


def test_invalid_arguments_are_refused(runs: Runs, tmp_path: pathlib.Path) -> None:
    agent, grid = saccade.load(runs["points"]), saccade.load(runs["grid"])
    images = some_images(2)
    refused = [
        ("labels: given without images", lambda: agent.rollout(labels=[1])),
        ("scenes: 0; allowed: 1 to", lambda: agent.rollout(scenes=0)),
        ("scenes: 2.5; allowed: an integer", lambda: agent.saliency(scenes=2.5)),
        ("scenes: 0; allowed: 1 to 100000000", lambda: saccade.record(agent, scenes=0)),
        (r"agents: \[\]; allowed: one or more agents", lambda: saccade.record([])),
        ("seed: -1; allowed: 0 to", lambda: agent.rollout(images, seed=-1)),
        ("sample: 'a'; allowed: an integer", lambda: agent.rollout(images, sample="a")),
        ("beam: 0; allowed: 1 to 100", lambda: agent.rollout(images, beam=0)),
        ("size: 0; allowed: 1 to", lambda: agent.start(size=0)),
        ("fps: 'slow'; allowed: a number", lambda: saccade.record(agent, fps="slow")),
        ("threads: -1; allowed: 0 to 1024", lambda: saccade.load(runs["points"], threads=-1)),
        ("scenes: given together with images", lambda: agent.rollout(images, scenes=2)),
        ("split: has no effect with images", lambda: agent.rollout(images, split="valid")),
        ("split: has no effect with images", lambda: agent.rollout(images, split="nonsense")),
        ("canvases: has no effect with images", lambda: agent.rollout(images, canvases=True)),
        ("canvases: 0; allowed: True, False", lambda: agent.rollout(images, canvases=0)),
        (r"labels: shape \(3,\)", lambda: agent.rollout(images, labels=[1, 2, 3])),
        ("labels: 3 to 10; allowed: 0 to 9", lambda: agent.rollout(images, labels=[3, 10])),
        ("readout: 'best'; allowed: deterministic, sampled, argmax", lambda: agent.rollout(images, readout="best")),
        ("split: 'all'; allowed: train, valid, test", lambda: agent.rollout(scenes=2, split="all")),
        ("needs either images or size", agent.start),
        ("sees more than one glimpse", lambda: grid.start(size=2)),
        ("many places at once", lambda: grid.step(grid.start(images), np.zeros((2, 2)))),
        (r"locations: shape \(3, 2\)", lambda: agent.step(agent.start(images), np.zeros((3, 2)))),
        ("locations: 0.0 to 2.0", lambda: agent.step(agent.start(images), [[0.0, 2.0], [0, 0]])),
        ("needs locations and glimpses", lambda: agent.step(agent.start(size=2))),
        ("step 5: allowed: 1 to 4", lambda: agent.saliency(images, step=5)),
        ("unknown suffix '.bmp'", lambda: saccade.record(agent).save(tmp_path / "a.bmp")),
        ("no run folder with a checkpoint", lambda: saccade.load(tmp_path)),
    ]
    for message, call in refused:
        with pytest.raises(saccade.InputError, match=message):
            call()


def test_a_broken_checkpoint_is_refused(runs: Runs, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "broken.safetensors"
    shutil.copy(runs["points"] / "checkpoints" / "best.safetensors", file)
    with open(file, "r+b") as bytes_of:
        bytes_of.truncate(os.path.getsize(file) // 2)
    with pytest.raises(saccade.InputError, match="broken.safetensors"):
        saccade.load(file)
