"""Trains an agent by REINFORCE in ap_gym's own environment, CircleSquare-v0, and tests it there.

pip install . ap-gym pillow aiohttp
python examples/ap_gym_world.py ap_gym_world [--episodes 100_000] [--seed 0]
"""

import argparse

import saccade
from ap_gym.envs.image import CircleSquareDataset, ImagePerceptionConfig
from ap_gym.envs.image_classification import ImageClassificationVectorEnv

MAX_STEP = 0.2  # how far an action of length 1 moves

# The agent of the preset circle_square, which plays in our environment of the same name.
SETTINGS = {
    "name": "ap_gym_world",
    "data": {"mean": 0.8, "deviation": 0.12},
    "model": {"core": "lstm", "hidden_size": 128, "glimpse_hidden": 64, "location_hidden": 64},
    "model.feature_size": 128,
    "model.locator_hidden": 64,
    "attention.glimpse": {"num_glimpses": 16, "moves": "relative", "max_step": MAX_STEP},
    "attention.glimpse.std": {"from": 0.8, "to": 0.5},
    "reinforce": {"reward": "gain", "shared_baseline": True},
    "training": {"batch_size": 64, "lane_size": 64, "learning_rate": 0.001, "locator_factor": 3},
    "training.step_loss": 0.5,
    "evaluation": {"scenes": 2_000, "rollouts": 1},
}


def make(count: int) -> ImageClassificationVectorEnv:
    return ImageClassificationVectorEnv(count, ImagePerceptionConfig(CircleSquareDataset(), prefetch=False))


def train(out: str, episodes: int, seed: int = 0, **more: object) -> saccade.Run:
    length = {"training.episodes": episodes, "evaluation.every": max(1, episodes // 4)}
    world = saccade.worlds.from_vector_env(make, max_step=MAX_STEP)
    run = {"seed": seed, "out": out, "threads": 1, "resume": True, "progress": True}
    return saccade.train(SETTINGS, length | more, world=world, **run)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", help="the run folder to make, or to continue")
    arguments.add_argument("--episodes", type=int, default=100_000)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()

    run = train(given.out, given.episodes, given.seed)
    count = run.config["evaluation"]["scenes"]
    print(f"{run.summary['test/error']:.2%} of the answers to {count:,} episodes are wrong,")
    print(f"with random looks {run.summary['test/error_random']:.2%}")


if __name__ == "__main__":
    main()
