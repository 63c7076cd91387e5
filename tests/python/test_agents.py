"""Trained agents: rollouts, steps by hand, parameters, saliency, films."""

import os
import pathlib
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


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """The run folder of a small agent for each way of looking."""
    folder = tmp_path_factory.mktemp("agents")
    for name, glimpse in WAYS.items():
        config = {**SMALL, "attention": {"glimpse": glimpse}}
        saccade.train(config, out=folder / name, threads=1)
    return {name: folder / name for name in WAYS}


@pytest.fixture(params=WAYS)
def agent(request: pytest.FixtureRequest, runs: dict[str, pathlib.Path]) -> saccade.Agent:
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


def test_labels_tell_right_from_wrong(agent: saccade.Agent) -> None:
    images = some_images(6)
    labels = agent.rollout(images).answers.astype(np.int64)
    labels[2] = (labels[2] + 1) % 10
    look = agent.rollout(images, labels=labels)
    np.testing.assert_array_equal(look.errors, [0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(look.labels, labels)


def test_scenes_are_those_of_eval(
    agent: saccade.Agent, program: str, tmp_path: pathlib.Path
) -> None:
    """Bit for bit what `saccade eval --weights` writes, across the chunks of an evaluation."""
    file = tmp_path / "weights.npz"
    command = [program, "eval", agent.path, "--episodes", "150", "--weights", str(file)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    look = agent.rollout(scenes=150)
    with np.load(file) as written:
        assert set(written.files) == set(look) - {"probabilities", "glimpses"}
        for name in written.files:
            np.testing.assert_array_equal(look[name], written[name], err_msg=name)


def test_same_bits_for_any_number_of_threads(runs: dict[str, pathlib.Path]) -> None:
    first, second = (
        saccade.load(runs["points"], threads=threads).rollout(scenes=250) for threads in (1, 2)
    )
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


def test_sampled_looks_differ_by_seed_and_sample(runs: dict[str, pathlib.Path]) -> None:
    agent = saccade.load(runs["points"])
    images = some_images(4)

    def locations(**request: int) -> np.ndarray:
        return agent.rollout(images, readout="sampled", **request).locations

    np.testing.assert_array_equal(locations(seed=1), locations(seed=1))
    assert (locations(seed=1) != locations(seed=2)).any()
    assert (locations(seed=1) != locations(seed=1, sample=1)).any()
    assert (locations(seed=1) != agent.rollout(images).locations).any()


def test_step_by_step_is_a_rollout(agent: saccade.Agent) -> None:
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
    with pytest.raises(saccade.InputError, match="the 4 looks of the episode are taken"):
        agent.step(state)


def test_a_copied_state_goes_its_own_way(runs: dict[str, pathlib.Path]) -> None:
    agent = saccade.load(runs["points"])
    state = agent.start(some_images(3))
    agent.step(state)
    other = state.copy()
    corner = agent.step(other, locations=np.full((3, 2), 0.75))
    assert (corner.locations == 0.75).all()
    own = agent.step(state)
    assert (own.locations != 0.75).all()
    assert (agent.step(other).probabilities != agent.step(state).probabilities).any()


def test_glimpses_may_be_handed_over(runs: dict[str, pathlib.Path]) -> None:
    """As an environment does: the same looks, taken elsewhere, lead to the same thoughts."""
    agent = saccade.load(runs["points"])
    whole = agent.rollout(some_images(3))
    state = agent.start(size=3)
    for t in range(agent.num_glimpses):
        look = agent.step(state, whole.locations[:, t], whole.glimpses[:, t])
        np.testing.assert_array_equal(look.probabilities, whole.probabilities[:, t])
        if t + 1 < agent.num_glimpses:
            np.testing.assert_array_equal(look.next_locations, whole.locations[:, t + 1])


def test_parameters_share_the_memory(runs: dict[str, pathlib.Path]) -> None:
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


def test_parameters_go_to_torch(runs: dict[str, pathlib.Path]) -> None:
    torch = pytest.importorskip("torch")
    agent = saccade.load(runs["points"])
    parameters = agent.parameters
    there = torch.from_dlpack(parameters["classifier.bias"])
    there += 1000 * torch.nn.functional.one_hot(torch.tensor(7), 10)
    assert (agent.rollout(some_images(2)).answers == 7).all()


def test_saliency_is_the_derivative(runs: dict[str, pathlib.Path]) -> None:
    """Of a pixel, by a finite difference of the logit's odds."""
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


def test_gradients_are_told(runs: dict[str, pathlib.Path]) -> None:
    told = saccade.load(runs["points"]).gradients(scenes=4, samples=3, rollouts=2)
    assert {"none", "learned", "leave_one_out"} <= set(told["estimators"])
    assert told["estimators"]["learned"]["variance"] > 0
    with pytest.raises(saccade.InputError, match="does not learn by REINFORCE"):
        saccade.load(runs["grid"]).gradients()


def test_films(agent: saccade.Agent, tmp_path: pathlib.Path) -> None:
    film = saccade.record(agent, some_images(2))
    path = film.save(tmp_path / "looks.gif")
    assert path.read_bytes()[:6] == b"GIF89a"
    assert path.read_bytes() == film.gif()
    with pytest.raises(saccade.InputError, match="exists already"):
        film.save(path)
    assert film._repr_html_().startswith('<img src="data:image/gif;base64,R0lGOD')
    sheet = saccade.record(agent, scenes=2).save(tmp_path / "looks.png")
    assert sheet.read_bytes()[:4] == b"\x89PNG"


def test_agents_side_by_side(runs: dict[str, pathlib.Path], tmp_path: pathlib.Path) -> None:
    agents = [saccade.load(runs[name]) for name in ("points", "grid")]
    both = saccade.record(agents, some_images(1), names=["hard", "soft"]).save(tmp_path / "a.gif")
    one = saccade.record(agents[0], some_images(1)).save(tmp_path / "b.gif")
    assert both.stat().st_size > one.stat().st_size
    with pytest.raises(saccade.InputError, match="names: 1 for 2 agents"):
        saccade.record(agents, names=["hard"])


def test_a_checkpoint_is_an_agent(runs: dict[str, pathlib.Path]) -> None:
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
def test_images_that_cannot_be(
    runs: dict[str, pathlib.Path], images: object, message: str
) -> None:
    with pytest.raises(saccade.InputError, match=message):
        saccade.load(runs["points"]).rollout(images)


def test_what_else_is_refused(runs: dict[str, pathlib.Path], tmp_path: pathlib.Path) -> None:
    agent, grid = saccade.load(runs["points"]), saccade.load(runs["grid"])
    images = some_images(2)
    refused = [
        ("labels: given without images", lambda: agent.rollout(labels=[1])),
        ("scenes: 0; allowed: 1 to", lambda: agent.rollout(scenes=0)),
        ("scenes: 2.5; allowed: an integer", lambda: agent.saliency(scenes=2.5)),
        ("scenes: 0; allowed: 1 to", lambda: saccade.record(agent, scenes=0)),
        ("seed: -1; allowed: 0 to", lambda: agent.rollout(images, seed=-1)),
        ("sample: 'a'; allowed: an integer", lambda: agent.rollout(images, sample="a")),
        ("beam: 0; allowed: 1 to 100", lambda: agent.rollout(images, beam=0)),
        ("size: 0; allowed: 1 to", lambda: agent.start(size=0)),
        ("fps: 'slow'; allowed: a number", lambda: saccade.record(agent, fps="slow")),
        ("threads: -1; allowed: 0 to 1024", lambda: saccade.load(runs["points"], threads=-1)),
        ("scenes: given with images", lambda: agent.rollout(images, scenes=2)),
        (r"labels: shape \(3,\)", lambda: agent.rollout(images, labels=[1, 2, 3])),
        ("labels: 3 to 10; allowed: 0 to 9", lambda: agent.rollout(images, labels=[3, 10])),
        ("unknown readout 'best'", lambda: agent.rollout(images, readout="best")),
        ("unknown split 'all'", lambda: agent.rollout(scenes=2, split="all")),
        ("needs images or size", agent.start),
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


def test_a_broken_checkpoint_is_refused(
    runs: dict[str, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "broken.safetensors"
    shutil.copy(runs["points"] / "checkpoints" / "best.safetensors", file)
    with open(file, "r+b") as bytes_of:
        bytes_of.truncate(os.path.getsize(file) // 2)
    with pytest.raises(saccade.InputError, match="broken.safetensors"):
        saccade.load(file)
