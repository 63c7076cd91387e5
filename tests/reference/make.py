"""Makes the fixtures of tests/agent/test_reference.cpp: the agent's mathematics once more, in plain
PyTorch with torch's own recurrent cells, distributions, optimisers and autograd.

Run by hand, from any folder; the fixtures beside this file are committed:

    apt-get install python3-torch
    python3 tests/reference/make.py

Inputs are float32 numbers, the computation runs in float64, the results are rounded to float32.
Weights have the names and the layout of the C++ code: (inputs, outputs), so that y = x w + b.
"""

import json
import pathlib
import struct

import torch
from torch.nn.functional import cross_entropy, relu, softmax

FOLDER = pathlib.Path(__file__).parent
torch.set_default_dtype(torch.float64)


def write_safetensors(name, tensors, metadata=None):
    """github.com/huggingface/safetensors, float32 only."""
    header, data = {"__metadata__": {k: str(v) for k, v in (metadata or {}).items()}}, b""
    for key, tensor in tensors.items():
        values = tensor.detach().to(torch.float32).contiguous().flatten().tolist()
        begin, data = len(data), data + struct.pack(f"<{len(values)}f", *values)
        header[key] = {"dtype": "F32", "shape": list(tensor.shape),
                       "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (FOLDER / f"{name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def normal(*shape, scale=1.0):
    """Normal numbers that float32 represents exactly."""
    return (scale * torch.randn(*shape)).to(torch.float32).to(torch.float64)


def parameters(shapes, scale=0.5):
    return {name: normal(*shape, scale=scale).requires_grad_() for name, shape in shapes.items()}


def named(prefix, tensors):
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def gradients(tensors):
    return {f"gradient.{name}": tensor.grad for name, tensor in tensors.items()}


# ---- The parts ----


def glimpse_shapes(glimpse, what, where, features):
    return {
        "glimpse.what.weight": (glimpse, what), "glimpse.what.bias": (1, what),
        "glimpse.where.weight": (2, where), "glimpse.where.bias": (1, where),
        "glimpse.joint.weight": (what + where, features), "glimpse.joint.bias": (1, features),
    }


def glimpse_network(p, glimpse, location):
    what = relu(glimpse @ p["glimpse.what.weight"] + p["glimpse.what.bias"])
    where = relu(location @ p["glimpse.where.weight"] + p["glimpse.where.bias"])
    # W_3 and W_4 apart, as the paper writes them.
    w3, w4 = p["glimpse.joint.weight"].split([what.shape[-1], where.shape[-1]])
    return relu(what @ w3 + where @ w4 + p["glimpse.joint.bias"])


def locator_shapes(state, hidden):
    return {
        "locator.hidden.weight": (state, hidden), "locator.hidden.bias": (1, hidden),
        "locator.mean.weight": (hidden, 2), "locator.mean.bias": (1, 2),
    }


def locator(p, state):
    hidden = relu(state @ p["locator.hidden.weight"] + p["locator.hidden.bias"])
    return torch.tanh(hidden @ p["locator.mean.weight"] + p["locator.mean.bias"])


def log_probability(sample, mean, std):
    return torch.distributions.Normal(mean, std).log_prob(sample).sum(-1)


class TorchCore:
    """torch.nn.RNN, LSTM or GRU over (T, B, F), and the way to and from our parameters."""

    def __init__(self, kind, features, hidden):
        self.kind, self.features, self.hidden = kind, features, hidden
        make = {"rnn": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind]
        self.module = make(features, hidden, **({"nonlinearity": "relu"} if kind == "rnn" else {}))

    def shapes(self):
        f, h = self.features, self.hidden
        if self.kind == "gru":
            return {
                "core.gates.weight": (f + h, 2 * h), "core.gates.bias": (1, 2 * h),
                "core.content.weight": (f, h), "core.content.bias": (1, h),
                "core.recurrent.weight": (h, h), "core.recurrent.bias": (1, h),
            }
        gates = 4 if self.kind == "lstm" else 1
        return {"core.weight": (f + h, gates * h), "core.bias": (1, gates * h)}

    def load(self, p):
        f, h = self.features, self.hidden
        if self.kind == "gru":  # torch: r, z, n, with two biases each
            gates = p["core.gates.weight"]
            w_ih = torch.cat([gates[:f], p["core.content.weight"]], 1)
            w_hh = torch.cat([gates[f:], p["core.recurrent.weight"]], 1)
            b_ih = torch.cat([p["core.gates.bias"], p["core.content.bias"]], 1)
            b_hh = torch.cat([torch.zeros(1, 2 * h), p["core.recurrent.bias"]], 1)
        else:
            w, b = self.swap(p["core.weight"]), self.swap(p["core.bias"])
            w_ih, w_hh, b_ih, b_hh = w[:f], w[f:], b, torch.zeros_like(b)
        with torch.no_grad():
            self.module.weight_ih_l0.copy_(w_ih.T)
            self.module.weight_hh_l0.copy_(w_hh.T)
            self.module.bias_ih_l0.copy_(b_ih[0])
            self.module.bias_hh_l0.copy_(b_hh[0])

    def gradients(self):
        f, h = self.features, self.hidden
        dw_ih, dw_hh = self.module.weight_ih_l0.grad.T, self.module.weight_hh_l0.grad.T
        db_ih, db_hh = self.module.bias_ih_l0.grad[None], self.module.bias_hh_l0.grad[None]
        if self.kind == "gru":
            return {
                "core.gates.weight": torch.cat([dw_ih[:, : 2 * h], dw_hh[:, : 2 * h]]),
                "core.gates.bias": db_ih[:, : 2 * h],
                "core.content.weight": dw_ih[:, 2 * h :], "core.content.bias": db_ih[:, 2 * h :],
                "core.recurrent.weight": dw_hh[:, 2 * h :],
                "core.recurrent.bias": db_hh[:, 2 * h :],
            }
        return {
            "core.weight": self.swap(torch.cat([dw_ih, dw_hh])), "core.bias": self.swap(db_ih),
        }

    def swap(self, columns):
        """LSTM: torch has i, f, n, o; we have i, f, o, n."""
        if self.kind != "lstm":
            return columns
        i, f, third, fourth = columns.chunk(4, 1)
        return torch.cat([i, f, fourth, third], 1)


# ---- The fixtures ----


def make_glimpse_network():
    p = parameters(glimpse_shapes(glimpse=20, what=7, where=5, features=6))
    glimpse, location = torch.rand(9, 20).float().double(), normal(9, 2, scale=0.5).clamp(-1, 1)
    dfeature = normal(9, 6)
    feature = glimpse_network(p, glimpse, location)
    feature.backward(dfeature)
    tensors = {"glimpse": glimpse, "location": location, "feature": feature, "dfeature": dfeature}
    write_safetensors("glimpse_network", tensors | named("parameter", p) | gradients(p))


def make_core(kind, steps=4, batch=3, features=5, hidden=4):
    core = TorchCore(kind, features, hidden)
    p = parameters(core.shapes())
    core.load(p)
    feature = normal(steps, batch, features).requires_grad_()
    state, _ = core.module(feature)
    dstate = normal(steps, batch, hidden)
    state.backward(dstate)
    tensors = {"feature": feature, "state": state, "dstate": dstate, "dfeature": feature.grad}
    write_safetensors(f"core_{kind}",
                      tensors | named("parameter", p) | named("gradient", core.gradients()))


def make_losses(rows=6, classes=5, hidden=4):
    logits = normal(rows, classes, scale=2.0).requires_grad_()
    label = torch.arange(rows) * 3 % classes
    loss = cross_entropy(logits, label, reduction="none")
    (0.25 * loss.sum()).backward()

    p = parameters(locator_shapes(hidden, 7)) | parameters({"log_std": (1, 1)})
    state, advantage = normal(rows, hidden), normal(rows)
    mean, std = locator(p, state), p["log_std"].exp()
    sample = normal(rows, 2)
    log_p = log_probability(sample, mean, std)
    (-advantage * log_p).sum().backward()

    q = parameters({"baseline.weight": (hidden, 1), "baseline.bias": (1, 1)})
    reward = torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    baseline = state @ q["baseline.weight"] + q["baseline.bias"]
    torch.nn.functional.mse_loss(baseline[:, 0], reward).backward()

    write_safetensors("losses", {
        "logits": logits, "label": label, "probability": softmax(logits, 1), "loss": loss,
        "dlogits": logits.grad, "state": state, "mean": mean, "sample": sample,
        "advantage": advantage, "log_probability": log_p,
        "entropy": torch.distributions.Normal(0.0, std.squeeze()).entropy()[None] * 2,
        "baseline": baseline, "reward": reward,
    } | named("parameter", p | q) | gradients(p | q), {"scale": 0.25})


def make_episode(kind, steps=3, batch=4, glimpse_size=12, classes=3, features=7, hidden=5):
    """Every loss term of whole episodes at once, with the detached quantities detached."""
    weights = {"classifier_weight": 0.9, "step_loss": 0.3, "weight": 0.7, "entropy": 0.05,
               "baseline_weight": 0.6, "batch_size": 8}
    core = TorchCore(kind, features, hidden)
    core_p = parameters(core.shapes())
    core.load(core_p)
    p = parameters(glimpse_shapes(glimpse_size, 6, 4, features) | locator_shapes(hidden, 6) | {
        "classifier.weight": (hidden, classes), "classifier.bias": (1, classes),
        "baseline.weight": (hidden, 1), "baseline.bias": (1, 1),
        "locator.first": (1, 2), "locator.log_std": (1, 1)})
    glimpse = torch.rand(steps, batch, glimpse_size).float().double()
    sample = normal(steps, batch, 2, scale=0.7)
    label = torch.arange(batch) % classes

    state, _ = core.module(glimpse_network(p, glimpse, sample.clamp(-1, 1)))
    logits = state @ p["classifier.weight"] + p["classifier.bias"]
    losses = torch.stack([cross_entropy(l, label, reduction="none") for l in logits])
    classifier = (weights["classifier_weight"] * losses[-1]
                  + weights["step_loss"] * losses[:-1].mean(0)).sum()

    reward = (logits[-1].argmax(1) == label).double()
    before = torch.cat([torch.zeros(1, batch, hidden), state[:-1]]).detach()  # h_0 .. h_{T-1}
    baseline = (before @ p["baseline.weight"] + p["baseline.bias"])[..., 0]
    mean = locator(p, before)
    mean = torch.cat([torch.tanh(p["locator.first"]).expand(1, batch, 2), mean[1:]])
    std = p["locator.log_std"].exp()
    advantage = (reward - baseline).detach()
    entropy = torch.distributions.Normal(mean, std).entropy().sum(-1)
    reinforce = -(weights["weight"] * advantage * log_probability(sample, mean, std)
                  + weights["entropy"] * entropy).sum()
    regression = weights["baseline_weight"] * ((baseline - reward) ** 2).mean(0).sum()

    ((classifier + reinforce + regression) / weights["batch_size"]).backward()
    write_safetensors(f"episode_{kind}", {
        "glimpse": glimpse, "sample": sample, "label": label, "reward": reward, "state": state,
        "probability": softmax(logits, -1), "mean": mean,
        "sums": torch.stack([classifier, reinforce, regression]),
    } | named("parameter", p | core_p) | gradients(p) | named("gradient", core.gradients()),
        {"core": kind} | weights)


def make_optimizer(size=37, steps=3, lanes=3, max_norm=5.0, ema=0.999):
    start = normal(size)
    gradient = normal(steps, lanes, size) * torch.tensor([3.0, 0.2, 2.0])[:, None, None]
    tensors = {"start": start, "gradient": gradient}
    makers = {
        "adam": lambda w: torch.optim.Adam([w], lr=0.05),
        "adamw": lambda w: torch.optim.AdamW([w], lr=0.05, weight_decay=0.1),
        "sgd": lambda w: torch.optim.SGD([w], lr=0.05, momentum=0.9, weight_decay=0.02),
    }
    for name, make in makers.items():
        w = start.clone().requires_grad_()
        optimizer, average = make(w), start.clone()
        weights, averages = [], []
        for n in range(1, steps + 1):
            w.grad = gradient[n - 1].sum(0)
            torch.nn.utils.clip_grad_norm_([w], max_norm)
            optimizer.step()
            average = torch.lerp(w.detach(), average, min(ema, (1 + n) / (10 + n)))
            weights.append(w.detach().clone())
            averages.append(average)
        tensors |= {f"{name}.weight": torch.stack(weights),
                    f"{name}.average": torch.stack(averages)}
        state = optimizer.state[w]
        moments = {"first": "exp_avg", "second": "exp_avg_sq"} if "exp_avg" in state else {
            "first": "momentum_buffer"}
        tensors |= {f"{name}.{ours}": state[theirs] for ours, theirs in moments.items()}
    tensors["norm"] = gradient.sum(1).norm(dim=1)
    write_safetensors("optimizer", tensors)


if __name__ == "__main__":
    torch.manual_seed(2014)
    make_glimpse_network()
    make_losses()
    make_optimizer()
    for core_kind in ["rnn", "lstm", "gru"]:
        make_core(core_kind)
        make_episode(core_kind)
