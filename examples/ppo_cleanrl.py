"""PPO in one file learns where to look and what to answer, on discrete actions.

    pip install . torch
    python examples/ppo_cleanrl.py

Follows ppo.py of CleanRL (Huang et al. 2022, MIT licence, copyright 2019 CleanRL developers), with
one categorical distribution for each part of a MultiDiscrete action (the place, the answer) and
Saccade's native vector environment. Two glimpses of synthetic 28x28 digits: the first at the centre,
the second where the policy chooses. Prints the share of right answers on test scenes.
"""

import argparse
import time

import gymnasium as gym
import numpy as np
import saccade  # registers the environments
import torch
from gymnasium.vector import AutoresetMode
from torch import nn
from torch.distributions import Categorical

ENVS, STEPS = 128, 16  # environments, and steps of each between two updates
EPOCHS, MINIBATCHES = 4, 4
LEARNING_RATE, GAMMA, GAE_LAMBDA = 1e-3, 1.0, 0.95
CLIP, ENTROPY, VALUE, MAX_GRAD_NORM = 0.2, 0.01, 0.5, 0.5

SETTINGS = {"data": "synthetic", "patch_size": 14, "scales": 2, "num_glimpses": 2, "first": "center"}


def make(split: str, count: int) -> gym.vector.VectorEnv:
    return gym.make_vec(
        "saccade/Centered28-v0",
        num_envs=count,
        vectorization_mode="vector_entry_point",
        split=split,
        actions="discrete",
        places=(5, 5),
        flat=True,
        autoreset_mode=AutoresetMode.SAME_STEP,
        **SETTINGS,
    )


def layer_init(layer: nn.Linear, std: float = np.sqrt(2), bias: float = 0.0) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias)
    return layer


class Agent(nn.Module):
    def __init__(self, envs: gym.vector.VectorEnv) -> None:
        super().__init__()
        self.nvec = envs.single_action_space.nvec.tolist()  # places, answers
        inputs = envs.single_observation_space.shape[0]
        self.critic = self.network(inputs, 1, 1.0)
        self.actor = self.network(inputs, sum(self.nvec), 0.01)

    @staticmethod
    def network(inputs: int, outputs: int, std: float) -> nn.Sequential:
        hidden = layer_init(nn.Linear(inputs, 256)), nn.Tanh(), layer_init(nn.Linear(256, 128)), nn.Tanh()
        return nn.Sequential(*hidden, layer_init(nn.Linear(128, outputs), std))

    def parts(self, seen: torch.Tensor) -> list[Categorical]:
        return [Categorical(logits=logits) for logits in self.actor(seen).split(self.nvec, -1)]

    def get_action_and_value(self, seen: torch.Tensor, action: torch.Tensor | None = None):
        parts = self.parts(seen)
        if action is None:
            action = torch.stack([part.sample() for part in parts], -1)
        log_prob = sum(part.log_prob(chosen) for part, chosen in zip(parts, action.unbind(-1)))
        entropy = sum(part.entropy() for part in parts)
        return action, log_prob, entropy, self.critic(seen).flatten()


@torch.no_grad()
def share_right(agent: Agent, episodes: int = 4000) -> float:
    envs = make("test", 100)
    seen, _ = envs.reset(seed=7)
    total, ended = 0.0, 0
    while ended < episodes:
        best = [part.probs.argmax(-1) for part in agent.parts(torch.from_numpy(seen))]
        seen, rewards, terminated, _, _ = envs.step(torch.stack(best, -1).numpy())
        total, ended = total + rewards.sum(), ended + terminated.sum()
    return float(total / ended)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=200_000)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)  # the matrices are too small for several threads

    envs = make("train", ENVS)
    agent = Agent(envs)
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)
    updates, batch = max(1, given.steps // (ENVS * STEPS)), ENVS * STEPS
    print(f"untrained: {share_right(agent):.1%} right")

    obs = torch.zeros(STEPS, ENVS, *envs.single_observation_space.shape)
    actions = torch.zeros(STEPS, ENVS, len(agent.nvec), dtype=torch.int64)
    logprobs, rewards, dones, values = torch.zeros(4, STEPS, ENVS)
    began = time.monotonic()
    next_obs = torch.from_numpy(envs.reset(seed=given.seed)[0])
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - update / updates)
        for step in range(STEPS):
            obs[step] = next_obs
            with torch.no_grad():
                actions[step], logprobs[step], _, values[step] = agent.get_action_and_value(next_obs)
            seen, reward, terminated, _, _ = envs.step(actions[step].numpy())
            next_obs = torch.from_numpy(seen)
            rewards[step], dones[step] = torch.from_numpy(reward), torch.from_numpy(terminated)

        with torch.no_grad():  # generalised advantages; dones[t] says that step t ended its episode
            advantages, following = torch.zeros(STEPS, ENVS), torch.zeros(ENVS)
            next_values = agent.critic(next_obs).flatten()
            for t in reversed(range(STEPS)):
                on = 1.0 - dones[t]
                delta = rewards[t] + GAMMA * next_values * on - values[t]
                advantages[t] = following = delta + GAMMA * GAE_LAMBDA * on * following
                next_values = values[t]
        returns = (advantages + values).flatten()

        for indices in (i for _ in range(EPOCHS) for i in torch.randperm(batch).chunk(MINIBATCHES)):
            _, logprob, entropy, value = agent.get_action_and_value(
                obs.flatten(0, 1)[indices], actions.flatten(0, 1)[indices]
            )
            ratio = (logprob - logprobs.flatten()[indices]).exp()
            advantage = advantages.flatten()[indices]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            policy_loss = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            value_loss = 0.5 * (value - returns[indices]).square().mean()
            loss = policy_loss - ENTROPY * entropy.mean() + VALUE * value_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRAD_NORM)
            optimizer.step()
        if update % 10 == 9:
            reward = rewards.sum() / dones.sum()
            print(f"{(update + 1) * batch:,} steps: {reward:.1%} right, loss {loss.item():.3f}", flush=True)

    seconds = time.monotonic() - began
    print(f"after {updates * batch:,} steps in {seconds:.0f} s: {share_right(agent):.1%} right")


if __name__ == "__main__":
    main()
