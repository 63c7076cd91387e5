"""scene.kind: circle_square against CircleSquare-v0 of the installed package ap_gym.

Positions in ap_gym are in units of the last place where the glimpse is on the image, ours in half
canvases.
"""

import numpy as np
import pytest

import saccade

pytest.importorskip("ap_gym")
pytest.importorskip("PIL")  # which ap_gym imports but does not declare

from ap_gym.envs.image import CircleSquareDataset, ImagePerceptionConfig
from ap_gym.envs.image_classification import ImageClassificationVectorEnv

UNIT = 23 / 28
BYTE = 0.5 / 255 + 1e-4  # our pixels are bytes
STEPS = 16


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> saccade.Agent:
    small = {
        "training.episodes": 2048,
        "training.batch_size": 64,
        "evaluation.every": 2048,
        "evaluation.scenes": 50,
        "model.hidden_size": 16,
    }
    folder = tmp_path_factory.mktemp("agents") / "circle_square"
    saccade.train("circle_square", small, out=folder, threads=1)
    agent = saccade.load(folder, threads=1)
    # After so short a training the agent would hardly move.
    agent.set_parameters({"locator.mean.weight": 30 * agent.parameters["locator.mean.weight"]})
    return agent


def package_environments(count: int) -> ImageClassificationVectorEnv:
    return ImageClassificationVectorEnv(
        count, ImagePerceptionConfig(CircleSquareDataset(), prefetch=False)
    )


def test_the_images_are_those_of_the_package(agent: saccade.Agent) -> None:
    dataset = CircleSquareDataset()
    images, labels = dataset[np.arange(len(dataset))]
    ours = agent.rollout(scenes=300, canvases=True)
    assert ours.canvases is not None
    assert agent.class_names == ["square", "circle"]
    for canvas, label in zip(ours.canvases[:, 0], ours.labels, strict=True):
        differences = np.abs(images[..., 0] - canvas).max(axis=(1, 2))
        assert differences.min() < BYTE
        assert labels[differences.argmin()] == label


def test_starts_are_uniform_where_those_of_the_package_are(agent: saccade.Agent) -> None:
    starts = agent.rollout(scenes=2000).locations[:, 0] / UNIT
    assert np.abs(starts).max() <= 1 + 1e-6
    quantiles = np.quantile(starts, [0.1, 0.25, 0.5, 0.75, 0.9], axis=0)
    np.testing.assert_allclose(quantiles, np.transpose([[-0.8, -0.5, 0, 0.5, 0.8]] * 2), atol=0.1)


def test_episodes_are_those_of_the_package(agent: saccade.Agent) -> None:
    """The agent plays in the package's environment: it sees there what it sees in ours, goes where
    it wants to go, and gets the reward that its belief earns."""
    count = 20
    envs = package_environments(count)
    seen, info = envs.reset(seed=1)
    images = np.rint(255 * envs.image_perception_module.current_images[..., 0]).astype(np.uint8)
    there, here = agent.start(size=count), agent.start(images)
    moved = 0.0
    for step in range(STEPS):
        position = seen["glimpse_pos"]
        glimpses = seen["glimpse"].reshape(count, -1)
        look = agent.step(there, UNIT * position, glimpses)
        ours = agent.step(here, UNIT * position)
        np.testing.assert_allclose(ours.glimpses.reshape(count, -1), glimpses, atol=BYTE)
        np.testing.assert_allclose(ours.probabilities, look.probabilities, atol=0.05)
        last = step == STEPS - 1
        goal = position if last else look.next_locations / UNIT
        action = ((goal - position) / 0.2).astype(np.float32)
        assert np.linalg.norm(action, axis=1).max() <= 1 + 1e-4
        seen, rewards, ended, _, info = envs.step(
            {"action": action, "prediction": np.log(look.probabilities)}
        )
        np.testing.assert_allclose(seen["glimpse_pos"], goal, atol=1e-5)
        belief = look.probabilities[np.arange(count), info["prediction"]["target"]]
        lengths = np.linalg.norm(action, axis=1)
        np.testing.assert_allclose(rewards, np.log2(belief) - 1e-3 * lengths, atol=1e-5)
        assert ended.all() == last
        moved += lengths.mean()
    assert moved > 1.0


def test_unreachable_places_can_be_looked_at(agent: saccade.Agent) -> None:
    images = np.zeros((2, 28, 28), np.uint8)
    state = agent.start(images)
    for place in ([[-0.8, 0.8], [0.9, -1.0]], [[0.8, -0.8], [-1.0, 1.0]]):
        look = agent.step(state, place)
        np.testing.assert_allclose(look.locations, place, atol=1e-6)
    assert np.abs(look.next_locations).max() <= UNIT + 1e-6
