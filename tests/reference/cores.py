"""The cores, as torch's own modules with our parameters: `<name>.<..>` of the header agent/core.h.
Weights have the layout (inputs, outputs), so that y = x w + b; torch's are transposed."""

import math

import torch
from torch.nn.functional import relu
from torch.nn.utils.stateless import functional_call


def linear_shapes(name, inputs, outputs):
    return {f"{name}.weight": (inputs, outputs), f"{name}.bias": (1, outputs)}


def linear(p, name, x):
    return x @ p[f"{name}.weight"] + p[f"{name}.bias"]


class Cell:
    """torch.nn.RNNCell, LSTMCell or GRUCell."""

    def __init__(self, kind, name, features, hidden):
        self.kind, self.name, self.features, self.hidden = kind, name, features, hidden
        make = {"rnn": torch.nn.RNNCell, "lstm": torch.nn.LSTMCell, "gru": torch.nn.GRUCell}[kind]
        self.module = make(features, hidden, **({"nonlinearity": "relu"} if kind == "rnn" else {}))

    def shapes(self):
        name, f, h = self.name, self.features, self.hidden
        if self.kind == "gru":
            return (linear_shapes(f"{name}.gates", f + h, 2 * h)
                    | linear_shapes(f"{name}.content", f, h)
                    | linear_shapes(f"{name}.recurrent", h, h))
        return linear_shapes(name, f + h, (4 if self.kind == "lstm" else 1) * h)

    def begin(self, batch):
        zero = torch.zeros(batch, self.hidden)
        return (zero, zero)

    def advance(self, p, x, state):
        """The state is (h, cell), of which only the LSTM uses the second."""
        weights = self.weights(p)
        if self.kind == "lstm":
            return functional_call(self.module, weights, (x, state))
        return (functional_call(self.module, weights, (x, state[0])), state[1])

    def weights(self, p):
        name, f, h = self.name, self.features, self.hidden
        if self.kind == "gru":  # torch: r, z, n, with two biases each
            gates, gates_bias = p[f"{name}.gates.weight"], p[f"{name}.gates.bias"]
            w_ih = torch.cat([gates[:f], p[f"{name}.content.weight"]], 1)
            w_hh = torch.cat([gates[f:], p[f"{name}.recurrent.weight"]], 1)
            b_ih = torch.cat([gates_bias, p[f"{name}.content.bias"]], 1)
            b_hh = torch.cat([torch.zeros(1, 2 * h), p[f"{name}.recurrent.bias"]], 1)
        else:
            w, b = self.swap(p[f"{name}.weight"]), self.swap(p[f"{name}.bias"])
            w_ih, w_hh, b_ih, b_hh = w[:f], w[f:], b, torch.zeros_like(b)
        return {"weight_ih": w_ih.T, "weight_hh": w_hh.T, "bias_ih": b_ih[0], "bias_hh": b_hh[0]}

    def swap(self, columns):
        """LSTM: torch has i, f, n, o; we have i, f, o, n."""
        if self.kind != "lstm":
            return columns
        i, f, o, n = columns.chunk(4, 1)
        return torch.cat([i, f, n, o], 1)


class FeedForward:
    """No memory: h_t = relu(g_t W + b)."""

    def __init__(self, name, features, hidden):
        self.name, self.features, self.hidden = name, features, hidden

    def shapes(self):
        return linear_shapes(self.name, self.features, self.hidden)

    def begin(self, batch):
        return (torch.zeros(batch, self.hidden),)

    def advance(self, p, x, state):
        return (relu(linear(p, self.name, x)),)


class Transformer:
    """Causal torch.nn.TransformerEncoderLayer, the norm before each part, over all that was read so
    far; a last norm; and the position code of Vaswani et al. (2017), section 3.5."""

    def __init__(self, name, features, hidden, heads, depth):
        self.name, self.features, self.hidden, self.depth = name, features, hidden, depth
        self.layer = torch.nn.TransformerEncoderLayer(hidden, heads, dim_feedforward=2 * hidden,
                                                      dropout=0.0, norm_first=True)

    def shapes(self):
        name, h = self.name, self.hidden
        norm = lambda part: {f"{part}.gain": (1, h), f"{part}.shift": (1, h)}
        all_shapes = linear_shapes(f"{name}.input", self.features, h) | norm(f"{name}.norm")
        for i in range(self.depth):
            part = f"{name}.layer{i}"
            all_shapes |= norm(f"{part}.attention.norm") | norm(f"{part}.forward.norm")
            all_shapes |= linear_shapes(f"{part}.attention.qkv", h, 3 * h)
            all_shapes |= linear_shapes(f"{part}.attention.output", h, h)
            all_shapes |= linear_shapes(f"{part}.forward.hidden", h, 2 * h)
            all_shapes |= linear_shapes(f"{part}.forward.output", 2 * h, h)
        return all_shapes

    def begin(self, batch):
        return (torch.zeros(batch, self.hidden), torch.zeros(0, batch, self.features))

    def advance(self, p, x, state):
        seen = torch.cat([state[1], x[None]])  # (t, B, F)
        steps = len(seen)
        y = linear(p, f"{self.name}.input", seen) + self.positions(steps)[:, None]
        future = torch.triu(torch.full((steps, steps), -math.inf), diagonal=1)
        for i in range(self.depth):
            y = functional_call(self.layer, self.weights(p, f"{self.name}.layer{i}"), (y, future))
        y = torch.nn.functional.layer_norm(y, (self.hidden,), p[f"{self.name}.norm.gain"][0],
                                           p[f"{self.name}.norm.shift"][0])
        return (y[-1], seen)

    def positions(self, steps):
        columns = torch.arange(0, self.hidden, 2)
        angle = torch.arange(steps)[:, None] / 10000.0 ** (columns / self.hidden)
        return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, : self.hidden]

    def weights(self, p, part):
        ours = {"self_attn.in_proj": "attention.qkv", "self_attn.out_proj": "attention.output",
                "linear1": "forward.hidden", "linear2": "forward.output"}
        weights = {}
        for theirs, name in ours.items():
            joint = "_" if theirs.endswith("in_proj") else "."
            weights[f"{theirs}{joint}weight"] = p[f"{part}.{name}.weight"].T
            weights[f"{theirs}{joint}bias"] = p[f"{part}.{name}.bias"][0]
        for theirs, name in {"norm1": "attention.norm", "norm2": "forward.norm"}.items():
            weights[f"{theirs}.weight"] = p[f"{part}.{name}.gain"][0]
            weights[f"{theirs}.bias"] = p[f"{part}.{name}.shift"][0]
        return weights


KINDS = {
    "rnn": lambda name, f, h, heads, depth: Cell("rnn", name, f, h),
    "lstm": lambda name, f, h, heads, depth: Cell("lstm", name, f, h),
    "gru": lambda name, f, h, heads, depth: Cell("gru", name, f, h),
    "feedforward": lambda name, f, h, heads, depth: FeedForward(name, f, h),
    "attention": Transformer,
}
# Those that carry all they know in their state: a decoder can have them.
RECURRENT = ["rnn", "lstm", "gru"]


def make_core(kind, name, features, hidden, heads=1, depth=1):
    with torch.random.fork_rng():  # the weights that torch draws are not used
        return KINDS[kind](name, features, hidden, heads, depth)
