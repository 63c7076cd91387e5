"""Whole episodes of an agent: forward, every loss term with the detached quantities detached, and
by autograd the gradient of every parameter. A fixture's metadata are the settings it was made with,
by the names they have in a configuration; `sight.<..>` and `request.<..>` are what an environment
and a lane are told."""

import torch
from torch.nn.functional import one_hot, relu

from answers import make_answering
from canvas_looks import Canvas, CanvasLooking, SmoothPoint, Steps, Whole, Window
from cores import linear, linear_shapes, make_core
from fixture import (Unclear, begin, gradients, named, parameters, real, uniform,
                     write_safetensors)
from looks import Grid, Point
from reads import gate_shapes, gated
from stopping import Stopping

# What a configuration that says nothing means, as far as it is not in TINY.
UNSAID = {
    "model.kind": "recurrent", "model.glimpse_network": "mlp",
    "model.context": "none", "attention.glimpse.learn_std": False,
    "attention.glimpse.tiles": (0, 0), "attention.glimpse.addressing": "none",
    "attention.glimpse.expect": "none", "attention.glimpse.size": (0, 0),
    "attention.glimpse.order": "rows", "attention.glimpse.first": "random",
    "attention.glimpse.stop": "none", "attention.glimpse.temperature": 1.0, "attention.glimpse.entropy": 0.0,
    "attention.glimpse.detach_state": False, "attention.glimpse.moves": "absolute",
    "attention.glimpse.max_step": 0.2, "attention.glimpse.zoom": (1.0, 1.0),
    "attention.glimpse.coverage": 0.0, "attention.glimpse.row_penalty": 0.0,
    "attention.input.kind": "none", "attention.input.alpha": 1.0,
    "attention.input.learn_alpha": False, "attention.input.gain": 1.0,
    "attention.hidden.kind": "last", "attention.hidden.query": "last",
    "attention.hidden.output": "context_and_last", "attention.hidden.score": "general",
    "attention.hidden.area": "global", "attention.hidden.position": "current",
    "attention.hidden.mask": "", "attention.hidden.penalty": 0.0,
    "model.heads": 1, "model.depth": 1, "sight.channels": 1,
    "reinforce.rollouts": 1, "reinforce.advantage": "learned", "reinforce.reward": "correct",
    "reinforce.critic": "linear", "reinforce.estimator": "score",
    "reinforce.shared_baseline": False, "reinforce.discount": 1.0, "reinforce.trace": 1.0,
    "reinforce.action_entropy": 0.0, "training.step_loss": 0.0,
    "sight.lengths": False, "sight.symbols": 0,
}

# An agent so small that a fixture is a few kilobytes. Most sizes differ, so that a swapped one
# shows.
TINY = {
    "model.core": "rnn", "model.hidden_size": 4,
    "model.glimpse_hidden": 3, "model.location_hidden": 2, "model.feature_size": 5,
    "model.locator_hidden": 6, "attention.glimpse.kind": "hard_gaussian",
    "attention.glimpse.num_glimpses": 3, "attention.glimpse.std": 0.5,
    "reinforce.weight": 0.7, "reinforce.entropy": 0.05, "reinforce.baseline_weight": 0.6,
    "training.classifier_weight": 0.9, "sight.answer": "one_class", "sight.classes": 3,
    "sight.rows": 6, "sight.cols": 9, "request.average_reward": 0.35,
    "request.batch_size": 8,
}


class Settings(dict):
    def __missing__(self, key):
        return UNSAID[key]


FAMILIES = {
    "hard_categorical": Grid,
    "soft_grid": Grid,
    "soft_gaussian": Window,
    "soft_point": SmoothPoint,
    "whole": Whole,
}


def make_looking(s):
    if s["model.kind"] != "recurrent":
        return Canvas(s)
    relative = s["attention.glimpse.moves"] == "relative"
    if relative and s["attention.glimpse.kind"] == "hard_categorical":
        return Steps(s)
    if relative or s["reinforce.estimator"] != "score":
        return SmoothPoint(s)
    return FAMILIES.get(s["attention.glimpse.kind"], Point)(s)


class IdentityCore:
    """Of models without one: the state is the feature."""

    def __init__(self, features):
        self.hidden = features

    def shapes(self):
        return {}

    def begin(self, batch):
        return (torch.zeros(batch, self.hidden),)

    def advance(self, p, x, state):
        return (x,)


def core_of(s, features):
    if s["model.kind"] != "recurrent":
        return IdentityCore(features)
    return make_core(s["model.core"], "core", features, s["model.hidden_size"], s["model.heads"],
                     s["model.depth"])


def discount_of(s):
    return s["reinforce.discount"] if s["sight.answer"] == "actions" else 1.0


def critic_shapes(s, state):
    kind = s["reinforce.critic"]
    if kind == "linear":
        return linear_shapes("baseline", state, 1)
    told = s["sight.classes"] + 2 if kind == "privileged" else 0
    return (linear_shapes("baseline.hidden", state + told, s["reinforce.critic_hidden"])
            | linear_shapes("baseline.output", s["reinforce.critic_hidden"], 1))


def criticised(s, p, h, answering, target):
    """(T, B) from the states h_0 .. h_{T-1}, and of a privileged critic what is true."""
    if s["reinforce.critic"] == "linear":
        return linear(p, "baseline", h)[..., 0]
    if s["reinforce.critic"] == "privileged":
        truth = torch.cat([real(one_hot(answering.label, answering.classes)), target], 1)
        h = torch.cat([h, truth.expand(len(h), -1, -1)], 2)
    return linear(p, "baseline.output", relu(linear(p, "baseline.hidden", h)))[..., 0]


def add_up(earned, decay, going_on):
    """R_t = r_t + decay R_{t+1}, with the chance (T, B) of going on."""
    returns = [earned[-1]]
    for t in range(len(earned) - 2, -1, -1):
        returns.insert(0, earned[t] + decay * going_on[t] * returns[0])
    return torch.stack(returns)


def advantages_of(s, earned, returns, baseline, going_on):
    kind = s["reinforce.advantage"]
    if kind == "gae":  # Schulman et al. (2016), equations 9 and 16
        following = torch.cat([baseline[1:], torch.zeros_like(baseline[:1])])
        errors = earned + discount_of(s) * going_on * following - baseline
        return add_up(errors, discount_of(s) * s["reinforce.trace"], going_on)
    if kind == "leave_one_out":
        m = s["reinforce.rollouts"]
        groups = returns.reshape(len(returns), -1, m)
        others = (groups.sum(2, keepdim=True) - groups) / (m - 1)
        return (groups - others).reshape(returns.shape)
    return returns - {"none": 0.0, "constant": s["reinforce.constant"] if kind == "constant" else 0,
                      "ema": s["request.average_reward"], "learned": baseline}[kind]


def make_episode(name, own):
    """With the first weights by which every parameter matters that can, and numbers that another
    precision does not change."""
    s = Settings(TINY | own)
    for attempt in range(1000):
        try:
            begin(name, attempt)
            tensors, p = play(s)
            check_precision(p, play_in_float32(s, name, attempt))
        except Unclear:
            continue
        return write_safetensors(f"episode_{name}", tensors | named("parameter", p) | gradients(p),
                                 {key: text(value) for key, value in s.items()})
    raise Unclear(f"{name}: after {attempt + 1} attempts")


def play_in_float32(s, name, attempt):
    torch.set_default_dtype(torch.float32)
    try:
        begin(name, attempt)
        return play(s)[1]
    finally:
        torch.set_default_dtype(torch.float64)


def check_precision(p, rounded):
    for name, tensor in p.items():
        if tensor.grad is None:
            continue
        largest = tensor.grad.abs().max()
        if largest > 0 and (rounded[name].grad - tensor.grad).abs().max() > 5e-7 * largest:
            raise Unclear(f"{name}: its gradient is a small sum of large numbers")


def check_reached(p, looks_are_learned, has_regression):
    """Only what REINFORCE or a regression would train may rest, where there is none."""
    for name, tensor in p.items():
        rests = (name.startswith("baseline") and not has_regression
                 or name.startswith("locator") and not looks_are_learned)
        if not rests and (tensor.grad is None or not tensor.grad.abs().max() > 1e-4):
            raise Unclear(f"{name} hardly matters")


def play(s, batch=4):
    """What the fixture holds, and the parameters with their gradients."""
    looking = make_looking(s)
    core = core_of(s, looking.features)
    answering = make_answering(s, core.hidden, looking.steps)
    stop = Stopping(s, core.hidden, looking.steps)
    acts, samples_stops = s["sight.answer"] == "actions", stop.kind == "sampled"
    first_decision = 0 if acts else looking.first_action
    if samples_stops and first_decision is None:
        first_decision = 1
    soft = getattr(looking, "soft", isinstance(looking, CanvasLooking))
    has_baseline = acts or not soft or samples_stops
    p = parameters(looking.shapes() | gate_shapes(s, looking.features, core.hidden) | core.shapes()
                   | answering.shapes() | stop.shapes()
                   | (critic_shapes(s, core.hidden) if has_baseline else {}))
    world = looking.world(batch) | answering.world(batch) | stop.world(batch)
    if s["reinforce.critic"] == "privileged":
        world["target"] = uniform(batch, 2)

    looking.begin(p)
    state = core.begin(batch)
    h = [state[0]]
    for t in range(looking.steps):
        feature = gated(s, p, looking.look(p, t, h[t]), h[t])
        state = core.advance(p, feature, state)
        h.append(state[0])
    h = torch.stack(h)  # (T + 1, B, H)

    earned = answering.say(p, h[1:], stop).detach()
    earned = torch.cat([earned[:1], earned[1:] - stop.price])
    going_on, reach = 1.0 - stop.chance.detach(), stop.reach.detach()
    decay = discount_of(s) * (1.0 if s["reinforce.advantage"] == "gae" else s["reinforce.trace"])
    returns = add_up(earned, decay, going_on)
    regression, advantages, baseline = torch.tensor(0.0), torch.zeros_like(returns), None
    if has_baseline:
        before = h[:-1] if s["reinforce.shared_baseline"] else h[:-1].detach()
        baseline = criticised(s, p, before, answering, world.get("target"))
        advantages = advantages_of(s, earned, returns, baseline, going_on).detach()
        if s["reinforce.advantage"] in ["learned", "gae"] and first_decision is not None:
            squares = (reach * (baseline - returns) ** 2)[first_decision:]
            regression = s["reinforce.baseline_weight"] * squares.mean(0).sum()
    classifier, on_actions, read_penalty = answering.losses(p, advantages)
    on_stops, stop_penalty = stop.losses(getattr(answering, "worth", None), returns, advantages,
                                         baseline)
    on_looks, look_penalty = looking.losses(p, h[:-1], advantages, reach)
    terms = [classifier, on_actions + on_looks + on_stops, regression,
             read_penalty + look_penalty + stop_penalty]
    sums = torch.stack([torch.as_tensor(term) for term in terms])
    (sums.sum() / s["request.batch_size"]).backward()
    check_reached(p, looking.first_action is not None or not has_baseline or
                  s["attention.glimpse.kind"].startswith("soft"), bool(regression > 0))

    forward = {"state": h[1:], "probability": answering.probability, "returns": returns,
               "sums": sums, "entropy": torch.as_tensor(looking.entropy).reshape(1)}
    if looking.decisions:
        forward |= {"decision": torch.stack(looking.decisions),
                    "location": torch.stack(looking.locations)}
    if hasattr(looking, "std"):
        forward["std"] = looking.std.reshape(1)
    return world | forward, p


def text(value):
    """As the test reads it: 1 or 0, numbers, names, and pairs with a space between."""
    if isinstance(value, bool):
        return int(value)
    return " ".join(map(str, value)) if isinstance(value, tuple) else value
