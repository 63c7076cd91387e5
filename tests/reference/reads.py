"""What is weighed: scores, attention over values, reads of the states, the gate. One episode is a
row of B; values are (B, n, K), queries (B, Q), masks (B, n) of truth values."""

import math

import torch
from torch.nn.functional import softmax

from fixture import real


# ---- Scores: the header attention/score.h has the papers ----


def score_shapes(kind, name, query, key, inner):
    if kind == "general":
        return {f"{name}.weight": (query, key)}
    if kind in ("additive", "location_free"):
        shapes = {f"{name}.key.weight": (key, inner), f"{name}.bias": (1, inner),
                  f"{name}.v": (1, inner)}
        return shapes | ({f"{name}.query.weight": (query, inner)} if kind == "additive" else {})
    return {}


def score(kind, name, p, query, keys):
    if kind == "dot":
        return torch.bmm(keys, query[:, :, None])[:, :, 0]
    if kind == "scaled_dot":
        return torch.bmm(keys, query[:, :, None])[:, :, 0] / math.sqrt(keys.shape[-1])
    if kind == "general":
        return torch.einsum("bq,qk,bnk->bn", query, p[f"{name}.weight"], keys)
    inner = keys @ p[f"{name}.key.weight"] + p[f"{name}.bias"]
    if kind == "additive":
        inner = inner + (query @ p[f"{name}.query.weight"])[:, None]
    return (torch.tanh(inner) * p[f"{name}.v"]).sum(-1)


# ---- Attention over values (Luong et al. 2015, section 3) ----


def attend_shapes(s, name, query, value):
    shapes = score_shapes(s["attention.hidden.score"], f"{name}.score", query, value,
                          s.get("attention.hidden.score_hidden"))
    if s["attention.hidden.area"] == "local" and s["attention.hidden.position"] == "predicted":
        shapes |= {f"{name}.position.weight": (query, s["attention.hidden.score_hidden"]),
                   f"{name}.position.v": (1, s["attention.hidden.score_hidden"])}
    return shapes


def attend(s, name, p, j, query, values, mask):
    """The weights (B, n) of query j."""
    scores = score(s["attention.hidden.score"], f"{name}.score", p, query, values)
    if s["attention.hidden.area"] == "global":
        return softmax(scores.masked_fill(~mask, -math.inf), 1)
    window = s["attention.hidden.window"]
    k = torch.arange(values.shape[1])
    m = real(((k + 1) * mask).amax(1))  # up to the last that is allowed
    if s["attention.hidden.position"] == "current":
        centre = torch.minimum(torch.tensor(float(j)), m - 1)
    else:
        hidden = torch.tanh(query @ p[f"{name}.position.weight"])
        centre = (m - 1) * torch.sigmoid((hidden * p[f"{name}.position.v"]).sum(1))
    distance = (k - centre[:, None]).abs()
    near = mask & (distance <= window)
    nearest = torch.nn.functional.one_hot(
        distance.masked_fill(~mask, math.inf).argmin(1), len(k)).bool()
    near = torch.where(near.any(1, keepdim=True), near, nearest)
    weights = softmax(scores.masked_fill(~near, -math.inf), 1)
    return weights * torch.exp(-(distance ** 2) / (2 * (window / 2) ** 2))


def context(weights, values):
    return torch.einsum("bn,bnk->bk", weights, values)


# ---- Reads of the states h_1 .. h_T, (B, T, H) ----


def allowed(s, steps, lengths):
    mask = torch.arange(steps)[None] < lengths[:, None]
    if s["attention.hidden.mask"]:
        mask = mask & torch.tensor([digit == "1" for digit in s["attention.hidden.mask"]])
    return mask


def last_state(states, lengths):
    return states[torch.arange(len(states)), lengths - 1]


def mean_state(states, mask):
    return (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


def read_shapes(s, name, state):
    kind = s["attention.hidden.kind"]
    if kind == "attend":
        query = 0 if s["attention.hidden.query"] == "none" else state
        return attend_shapes(s, name, query, state)
    if kind == "self":
        inner = s["attention.hidden.score_hidden"]
        return {f"{name}.hidden.weight": (state, inner),
                f"{name}.hops.weight": (inner, s["attention.hidden.hops"])}
    return {}


def read_size(s, state):
    kind = s["attention.hidden.kind"]
    if kind == "self":
        return s["attention.hidden.hops"] * state
    both = kind == "attend" and s["attention.hidden.output"] == "context_and_last"
    return (2 if both else 1) * state


def read(s, name, p, t, states, lengths):
    """After step t: what is read (B, R), and the penalty summed over the episodes."""
    lengths = torch.minimum(lengths, torch.tensor(t + 1))
    mask = allowed(s, states.shape[1], lengths)
    some = mask.any(1, keepdim=True)  # while nothing may be read, the read is 0
    last = last_state(states, lengths)
    kind = s["attention.hidden.kind"]
    if kind == "last":
        return last, 0.0
    if kind == "mean":
        return mean_state(states, mask), 0.0
    safe = mask | ~some
    if kind == "attend":
        query = mean_state(states, mask) if s["attention.hidden.query"] == "mean" else last
        found = context(attend(s, name, p, t, query, states, safe), states) * some
        both = s["attention.hidden.output"] == "context_and_last"
        return (torch.cat([found, last], 1) if both else found), 0.0
    # Lin et al. (2017), equations 5 to 8: A (B, r, T)
    logits = torch.tanh(states @ p[f"{name}.hidden.weight"]) @ p[f"{name}.hops.weight"]
    a = softmax(logits.transpose(1, 2).masked_fill(~safe[:, None], -math.inf), 2)
    a = a * some[:, :, None]
    excess = (a @ a.transpose(1, 2) - torch.eye(a.shape[1])) * some[:, :, None]
    return (a @ states).flatten(1), s["attention.hidden.penalty"] * (excess ** 2).sum()


# ---- The gate on what the core reads ----


def gate_shapes(s, features, state):
    if s["attention.input.kind"] == "none":
        return {}
    shapes = {"gate.state.weight": (state, features), "gate.input.weight": (features, features),
              "gate.bias": (1, features)}
    return shapes | ({"gate.log_alpha": (1, 1)} if s["attention.input.learn_alpha"] else {})


def gated(s, p, x, h):
    if s["attention.input.kind"] == "none":
        return x
    a = torch.sigmoid(h @ p["gate.state.weight"] + x @ p["gate.input.weight"] + p["gate.bias"])
    learned = s["attention.input.learn_alpha"]
    alpha = p["gate.log_alpha"].exp() if learned else s["attention.input.alpha"]
    return s["attention.input.gain"] * x * softmax(alpha * a, 1)
