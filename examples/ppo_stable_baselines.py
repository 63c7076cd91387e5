"""PPO from Stable-Baselines3 learns to look at a digit and to classify it.

    pip install . stable-baselines3
    python examples/ppo_stable_baselines.py

Two glimpses of synthetic 28x28 digits: the first at the centre, the second where the policy
chooses. Prints the mean reward, which is the share of right answers, of the random policy and of
PPO after 200,000 steps. Takes about half a minute on two cores.
"""

from collections.abc import Callable

import numpy as np
import saccade.sb3
import torch
from stable_baselines3 import PPO

STEPS = 200_000
EPISODES = 4_000

SETTINGS = {
    "data": "synthetic",
    "patch_size": 14,
    "scales": 2,
    "num_glimpses": 2,
    "first": "center",
}


def mean_reward(split: str, act: Callable[[np.ndarray], np.ndarray]) -> float:
    """The mean reward over EPISODES episodes, 100 at a time."""
    envs = saccade.sb3.make_vec("saccade/Centered28-v0", 100, split=split, **SETTINGS)
    envs.seed(7)
    observations, total, episodes = envs.reset(), 0.0, 0
    while episodes < EPISODES:
        observations, rewards, ended, _ = envs.step(act(observations))
        total += float(rewards.sum())
        episodes += int(ended.sum())
    envs.close()
    return total / episodes


def main() -> None:
    torch.set_num_threads(1)  # the matrices are too small for several threads
    envs = saccade.sb3.make_vec("saccade/Centered28-v0", 128, **SETTINGS)
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
