"""Makes the fixtures of tests/agent/test_reference*.cpp: the agent's mathematics once more, in
plain PyTorch with torch's own cells, transformer layers, distributions, optimisers and autograd.

Run by hand, from any folder; the fixtures beside this file are committed:

    apt-get install python3-torch
    /usr/bin/python3 tests/reference/make.py [TEXT]   # those with TEXT in their name; all

fixture.py has the file format, cores.py, reads.py, looks.py and answers.py the parts, episodes.py
an agent. A new kind is a branch there and a line in every_episode.py: until then the test that
looks for a fixture of every kind fails.
"""

import sys

import torch
from torch.nn.functional import cross_entropy, softmax

from cores import KINDS, linear, linear_shapes, make_core
from episodes import make_episode
from every_episode import every_episode
from fixture import begin, gradients, named, normal, parameters, uniform, write_safetensors
from looks import glimpse_network, glimpse_shapes, locator, locator_shapes


def make_glimpse_network():
    begin("glimpse_network")
    p = parameters(glimpse_shapes(glimpse=20, what=7, where=5, features=6))
    glimpse, location = uniform(9, 20), normal(9, 2, scale=0.5).clamp(-1, 1)
    dfeature = normal(9, 6)
    feature = glimpse_network(p, glimpse, location)
    feature.backward(dfeature)
    tensors = {"glimpse": glimpse, "location": location, "feature": feature, "dfeature": dfeature}
    write_safetensors("glimpse_network", tensors | named("parameter", p) | gradients(p))


def make_core_alone(kind, steps=4, batch=3, features=5, hidden=4, heads=2, depth=2):
    begin(f"core_{kind}")
    core = make_core(kind, "core", features, hidden, heads, depth)
    p = parameters(core.shapes())
    feature = normal(steps, batch, features).requires_grad_()
    state, states = core.begin(batch), []
    for t in range(steps):
        state = core.advance(p, feature[t], state)
        states.append(state[0])
    states, dstate = torch.stack(states), normal(steps, batch, hidden)
    states.backward(dstate)
    tensors = {"feature": feature, "state": states, "dstate": dstate, "dfeature": feature.grad}
    write_safetensors(f"core_{kind}", tensors | named("parameter", p) | gradients(p),
                      {"heads": heads, "depth": depth})


def make_losses(rows=6, classes=5, hidden=4):
    begin("losses")
    logits = normal(rows, classes, scale=2.0).requires_grad_()
    label = torch.arange(rows) * 3 % classes
    loss = cross_entropy(logits, label, reduction="none")
    (0.25 * loss.sum()).backward()

    p = parameters(locator_shapes(hidden, 7, "mean", 2)) | parameters({"log_std": (1, 1)})
    state, advantage = normal(rows, hidden), normal(rows)
    mean, std = torch.tanh(locator(p, "mean", state)), p["log_std"].exp()
    sample = normal(rows, 2)
    log_p = torch.distributions.Normal(mean, std).log_prob(sample).sum(-1)
    (-advantage * log_p).sum().backward()

    q = parameters(linear_shapes("baseline", hidden, 1))
    reward = torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    baseline = linear(q, "baseline", state)
    torch.nn.functional.mse_loss(baseline[:, 0], reward).backward()

    write_safetensors("losses", {
        "logits": logits, "label": label, "probability": softmax(logits, 1), "loss": loss,
        "dlogits": logits.grad, "state": state, "mean": mean, "sample": sample,
        "advantage": advantage, "log_probability": log_p,
        "entropy": torch.distributions.Normal(0.0, std.squeeze()).entropy()[None] * 2,
        "baseline": baseline, "reward": reward,
    } | named("parameter", p | q) | gradients(p | q), {"scale": 0.25})


def make_optimizer(size=37, steps=20, lanes=3, max_norm=5.0, ema=0.999):
    begin("optimizer")
    start = normal(size)
    gradient = normal(steps, lanes, size) * torch.linspace(3.0, 0.2, steps)[:, None, None]
    tensors = {"start": start, "gradient": gradient}
    kinds = {  # and the weight decay
        "adam": (torch.optim.Adam, {}, 0.01),
        "adamw": (torch.optim.AdamW, {}, 0.1),
        "sgd": (torch.optim.SGD, {"momentum": 0.9}, 0.02),
    }
    for name, (make, settings, weight_decay) in kinds.items():
        w = start.clone().requires_grad_()
        optimizer, average = make([w], lr=0.05, weight_decay=weight_decay, **settings), start.clone()
        weights, averages = [], []
        for n in range(1, steps + 1):
            w.grad = gradient[n - 1].sum(0)
            torch.nn.utils.clip_grad_norm_([w], max_norm)
            optimizer.step()
            average = torch.lerp(w.detach(), average, min(ema, (1 + n) / (10 + n)))
            weights.append(w.detach().clone())
            averages.append(average)
        tensors |= {f"{name}.weight_decay": torch.tensor([weight_decay]),
                    f"{name}.weight": torch.stack(weights),
                    f"{name}.average": torch.stack(averages)}
        state = optimizer.state[w]
        moments = {"first": "exp_avg", "second": "exp_avg_sq"} if "exp_avg" in state else {
            "first": "momentum_buffer"}
        tensors |= {f"{name}.{ours}": state[theirs] for ours, theirs in moments.items()}
    tensors["norm"] = gradient.sum(1).norm(dim=1)
    write_safetensors("optimizer", tensors)


if __name__ == "__main__":
    text = sys.argv[1] if len(sys.argv) > 1 else ""
    makers = {"glimpse_network": make_glimpse_network, "losses": make_losses,
              "optimizer": make_optimizer}
    makers |= {f"core_{kind}": lambda kind=kind: make_core_alone(kind) for kind in KINDS}
    makers |= {f"episode_{name}": lambda name=name, settings=settings: make_episode(name, settings)
               for name, settings in every_episode().items()}
    for name, make in makers.items():
        if text in name:
            make()
