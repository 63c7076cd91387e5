"""A plain loop over many environments: random locations, and the rate of glimpses.

pip install .
python examples/environment_loop.py [--data mnist]
"""

import argparse
import time

import gymnasium as gym
import saccade  # registers the environments

STEPS = 500


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", default="synthetic", help="mnist, synthetic, ...")
    data = arguments.parse_args().data

    envs = gym.make_vec("saccade/Cluttered60-v0", num_envs=256, data=data)
    envs.action_space.seed(1)
    actions = [envs.action_space.sample() for _ in range(20)]

    observations, info = envs.reset(seed=1)
    on_target, right, episodes = 0, 0.0, 0
    begin = time.perf_counter()
    for step in range(STEPS):
        observations, rewards, terminated, truncated, info = envs.step(actions[step % len(actions)])
        on_target += int(info["on_target"].sum())
        right += float(rewards.sum())
        episodes += int(terminated.sum())
    seconds = time.perf_counter() - begin
    envs.close()

    glimpses = STEPS * envs.num_envs
    shape = observations["glimpse"].shape[1:]
    print(f"{glimpses / seconds:,.0f} glimpses per second of shape {shape}")
    print(f"{on_target / glimpses:.1%} of the locations were inside the digit")
    print(f"{right / episodes:.1%} of {episodes:,} random answers were right")


if __name__ == "__main__":
    main()
