"""The recurrent attention model (Mnih et al. 2014) in PyTorch, in Saccade's worlds.

The scenes come from the native vector environment; where to look is learned by backpropagation
through saccade.torch.look, as `attention.glimpse.kind: soft_point` does. Needs the package torch.

    python examples/torch_agent.py --minutes 2
    python examples/torch_agent.py --minutes 2 --native    # Saccade's own agent of the same parts
"""

from __future__ import annotations

import argparse
import tempfile
import time

import gymnasium as gym
import saccade
import saccade.torch
import torch
from torch import nn
from torch.nn import functional as F

ENV = "saccade/Translated60-v0"


class RecurrentAttention(nn.Module):
    """Glimpse network, GRU, locator and classifier, with the sizes of Saccade's defaults."""

    def __init__(self, glimpse_size: int, num_classes: int, hidden: int = 256) -> None:
        super().__init__()
        self.what = nn.Sequential(nn.Linear(glimpse_size, 128), nn.ReLU(), nn.Linear(128, hidden))
        self.where = nn.Sequential(nn.Linear(2, 128), nn.ReLU(), nn.Linear(128, hidden))
        self.core = nn.GRUCell(hidden, hidden)
        self.locator = nn.Sequential(nn.Linear(hidden, 128), nn.ReLU(), nn.Linear(128, 2))
        self.classifier = nn.Linear(hidden, num_classes)

    def forward(self, canvases: saccade.torch.Canvases, num_glimpses: int) -> torch.Tensor:
        state = torch.zeros(len(canvases), self.core.hidden_size)
        for _ in range(num_glimpses):
            location = torch.tanh(self.locator(state))
            glimpse = saccade.torch.look(canvases, location)
            state = self.core(F.relu(self.what(glimpse) + self.where(location)), state)
        return self.classifier(state)


def batch(envs: gym.vector.VectorEnv) -> tuple[saccade.torch.Canvases, torch.Tensor]:
    """The canvases and labels of the next episodes."""
    _, info = envs.reset()
    scales, _, patch, _ = envs.glimpse_shape
    canvases = saccade.torch.Canvases(
        envs.canvases(), patch_size=patch, scales=scales, threads=torch.get_num_threads()
    )
    return canvases, torch.from_numpy(info["label"])


def train_native(arguments: argparse.Namespace) -> None:
    """Trains the same network with the same batches, rate and clipping, without PyTorch."""
    settings = {
        "name": "native",
        "seed": arguments.seed,
        "data": {"source": arguments.data},
        "scene": {"kind": "translated", "canvas": [60, 60]},
        "model": {"core": "gru"},
        "attention": {"glimpse": {"kind": "soft_point", "first": "learned", "num_glimpses": 8}},
        "training": {"batch_size": 128, "schedule": "constant", "warmup": 0, "ema": 0},
        "evaluation": {"every": 1_000_000_000, "scenes": 1024},
        "log": {"every": 1280},
    }
    end = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as folder:
        run = saccade.train(
            settings,
            out=f"{folder}/run",
            threads=torch.get_num_threads(),
            callback=lambda row: time.monotonic() > end,
        )
        error = saccade.evaluate(run)["test/error"]
        print(f"{run.metrics['episodes'][-1]} episodes, test error {100 * error:.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--env", default=ENV)
    parser.add_argument("--data", default="synthetic", help="mnist, synthetic, ...")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--native", action="store_true", help="train Saccade's own agent instead")
    arguments = parser.parse_args()
    if arguments.native:
        if arguments.env != ENV:
            parser.error(f"--env {arguments.env}: with --native only {ENV}")
        return train_native(arguments)

    torch.manual_seed(arguments.seed)
    make = {"num_envs": 128, "data": arguments.data, "threads": torch.get_num_threads()}
    envs = gym.make_vec(arguments.env, **make)
    envs.reset(seed=arguments.seed)
    model = RecurrentAttention(batch(envs)[0].glimpse_size, len(envs.class_names))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    began, updates = time.monotonic(), 0
    while time.monotonic() - began < 60 * arguments.minutes:
        canvases, labels = batch(envs)
        loss = F.cross_entropy(model(canvases, envs.num_glimpses), labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        updates += 1
        if updates % 100 == 0:
            print(f"{updates * 128} episodes  loss {loss.item():.3f}", flush=True)

    tests = gym.make_vec(arguments.env, split="test", **make)
    tests.reset(seed=777)
    with torch.no_grad():
        rounds = [batch(tests) for _ in range(8)]
        right = [model(c, tests.num_glimpses).argmax(-1) == labels for c, labels in rounds]
    error = 1.0 - torch.cat(right).float().mean().item()
    print(f"{updates * 128} episodes, test error {100 * error:.1f} %")


if __name__ == "__main__":
    main()
