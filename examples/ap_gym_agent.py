"""A trained agent of the preset circle_square in ap_gym's own environment, CircleSquare-v0.

pip install . ap-gym pillow aiohttp
saccade run circle_square --out circle_square
python examples/ap_gym_agent.py circle_square [--episodes 2000] [--seed 0]
"""

import argparse

import numpy as np
import saccade
from ap_gym.envs.image import CircleSquareDataset, ImagePerceptionConfig
from ap_gym.envs.image_classification import ImageClassificationVectorEnv

# Positions in ap_gym are in units of the last place where its glimpse of 5 pixels is on the image
# of 28, ours in half canvases. An action of length 1 moves by 0.2.
UNIT = 1 - 5 / 28
MAX_STEP = 0.2


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("run", help="the run folder of the agent")
    arguments.add_argument("--episodes", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()

    agent, count = saccade.load(given.run), given.episodes
    config = ImagePerceptionConfig(CircleSquareDataset(), prefetch=False)
    envs = ImageClassificationVectorEnv(count, config)
    seen, _ = envs.reset(seed=given.seed)
    state = agent.start(size=count)
    returns = np.zeros(count)
    for step in range(agent.num_glimpses):
        position = seen["glimpse_pos"]
        look = agent.step(state, UNIT * position, seen["glimpse"].reshape(count, -1))
        action = np.zeros((count, 2), np.float32)
        if look.next_locations is not None:
            action = ((look.next_locations / UNIT - position) / MAX_STEP).astype(np.float32)
        beliefs = np.log(np.maximum(look.probabilities, 1e-30))
        seen, rewards, _, _, info = envs.step({"action": action, "prediction": beliefs})
        returns += rewards
    right = look.probabilities.argmax(axis=1) == info["prediction"]["target"]
    print(f"{right.mean():.2%} of {count:,} episodes are right; their mean return is {returns.mean():.3f}")


if __name__ == "__main__":
    main()
