"""PPO of Stable-Baselines3 learns to look at a digit and to say which it is.

    pip install saccade stable-baselines3
    python examples/ppo_stable_baselines.py

Two looks at 28x28 digits that are drawn on the spot: the first at the centre, the second where the
policy wants. Prints the mean reward of the random policy and of PPO's after 200,000 steps, which is
the share of right answers; about half a minute on two cores.
"""

from collections.abc import Callable

import numpy as np
import saccade.sb3
import torch
from stable_baselines3 import PPO

STEPS = 200_000
EPISODES = 4_000

LOOKS = {
    "data": "synthetic",
    "patch_size": 14,
    "scales": 2,
    "num_glimpses": 2,
    "first": "center",
}


def mean_reward(split: str, act: Callable[[np.ndarray], np.ndarray]) -> float:
    """Of so many episodes, 100 at a time."""
    envs = saccade.sb3.make_vec("saccade/Centered28-v0", 100, split=split, **LOOKS)
    envs.seed(7)
    observations, earned, episodes = envs.reset(), 0.0, 0
    while episodes < EPISODES:
        observations, rewards, ended, _ = envs.step(act(observations))
        earned += float(rewards.sum())
        episodes += int(ended.sum())
    envs.close()
    return earned / episodes


def main() -> None:
    torch.set_num_threads(1)  # the matrices are small: threads would wait for each other
    envs = saccade.sb3.make_vec("saccade/Centered28-v0", 128, **LOOKS)
    envs.seed(1)
    envs.action_space.seed(1)

    def random(observations: np.ndarray) -> np.ndarray:
        return np.stack([envs.action_space.sample() for _ in observations])

    print(f"random policy: {mean_reward('test', random):.3f}")

    agent = PPO(
        "MlpPolicy",
        envs,
        n_steps=16,
        batch_size=512,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,
        policy_kwargs={"log_std_init": -0.5, "net_arch": [256, 128]},
        seed=1,
        device="cpu",
    )
    agent.learn(STEPS)

    def learned(observations: np.ndarray) -> np.ndarray:
        return agent.predict(observations, deterministic=True)[0]

    print(f"PPO after {STEPS:,} steps: {mean_reward('test', learned):.3f}")


if __name__ == "__main__":
    main()
