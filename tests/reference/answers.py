"""What is said of the states: one class for each kind of answer. All have

    shapes()               of their parameters
    world(batch)           what is true of the episodes, for the fixture
    say(p, h, stop)        from the states h_1 .. h_T, (T, B, H): writes probability (S, B, C) and
                           returns (T, B), what was earned by look t; also `worth` (T, B), what it
                           earns to stop after it, of what may stop
    losses(p, advantages)  cross-entropy, REINFORCE of actions, penalty; sums over the episodes"""

import torch
from torch.distributions import Categorical
from torch.nn.functional import cross_entropy, log_softmax, one_hot, softmax

from cores import linear, linear_shapes, make_core
from fixture import Unclear, real, uniform
from reads import (allowed, attend, attend_shapes, context, last_state, read, read_shapes,
                   read_size)


def clear_argmax(values):
    best = values.topk(2, dim=-1).values
    if (best[..., 0] - best[..., 1]).min() < 1e-3:
        raise Unclear("the two largest are almost equal")
    return values.argmax(-1)


def worth_of(s, right, probability, answers):
    """Of an answer, one of so many, that was right (1) or not (0); `probability` of the truth."""
    kind = s["reinforce.reward"]
    if kind == "correct":
        return right
    if kind == "log":
        return probability.log()
    if kind == "clipped":
        return (probability - 1 / answers).clamp(min=0)
    return probability


def earned_by(s, worth, answers, chance=None):
    """(T, B), from what the answer after each look is worth: at the end, or as it grows from chance.
    `chance` (T, B): of the end after look t; else only after the last."""
    if s["reinforce.reward"] == "gain":
        return worth - torch.cat([torch.full_like(worth[:1], 1 / answers), worth[:-1]])
    if chance is not None:
        return chance * worth
    return torch.cat([torch.zeros_like(worth[:-1]), worth[-1:]])


class Answering:
    def __init__(self, s, state, steps):
        self.s, self.state, self.steps, self.classes = s, state, steps, s["sight.classes"]

    def lengths(self, batch):
        """Steps that count, from T downwards where the settings say so."""
        if not self.s["sight.lengths"]:
            return torch.full((batch,), self.steps)
        return (self.steps - torch.arange(batch) % self.steps).clamp(min=2)

    def world_of(self, batch, **tensors):
        self.length = self.lengths(batch)
        return tensors | ({"length": self.length} if self.s["sight.lengths"] else {})


class OneClass(Answering):
    def shapes(self):
        return read_shapes(self.s, "hidden", self.state) | linear_shapes(
            "classifier", read_size(self.s, self.state), self.classes)

    def world(self, batch):
        self.label = torch.arange(batch) % self.classes
        return self.world_of(batch, label=self.label)

    def say(self, p, h, stop):
        self.stop = stop
        reads = [read(self.s, "hidden", p, t, h.transpose(0, 1), self.length)
                 for t in range(len(h))]
        self.penalties = [penalty for _, penalty in reads]
        self.logits = torch.stack([linear(p, "classifier", x) for x, _ in reads])
        self.probability = softmax(self.logits, -1)
        stop.decide(p, h, self.logits)
        judged = self.logits if stop.learned else self.logits[-1]
        right = real(clear_argmax(judged) == self.label).expand(self.steps, -1)
        truth = self.label.expand(self.steps, -1)[:, :, None]
        worth = worth_of(self.s, right, self.probability.gather(2, truth)[..., 0], self.classes)
        self.worth = torch.zeros_like(worth) if self.s["reinforce.reward"] == "gain" else worth
        return earned_by(self.s, worth, self.classes, stop.chance if stop.learned else None)

    def losses(self, p, advantages):
        loss = torch.stack([cross_entropy(l, self.label, reduction="sum") for l in self.logits])
        classifier = self.s["training.classifier_weight"] * loss[-1]
        if self.stop.learned:
            each = torch.stack([cross_entropy(l, self.label, reduction="none")
                                for l in self.logits])
            classifier = self.s["training.classifier_weight"] * (self.stop.share * each).sum()
        if self.s["training.step_loss"] > 0:
            classifier = classifier + self.s["training.step_loss"] * loss[:-1].mean()
        return classifier, 0.0, self.penalties[-1]


class Sequence(Answering):
    """A decoder that is told the symbols before each one."""

    def __init__(self, s, state, steps):
        super().__init__(s, state, steps)
        self.core = make_core(s["decoder.core"], "decoder.core", self.classes + state,
                              s["decoder.hidden_size"])

    def shapes(self):
        own = self.s["decoder.hidden_size"]
        shapes = self.core.shapes() | linear_shapes("decoder.output", own + self.state,
                                                    self.classes)
        if self.s["attention.hidden.kind"] == "attend":
            shapes |= attend_shapes(self.s, "decoder.attend", own, self.state)
        return shapes

    def world(self, batch):
        """Symbols (B, J), the end mark last and from there on; 1 .. J of them count."""
        most, end = self.s["sight.symbols"], self.classes - 1
        self.count = most - torch.arange(batch) % most
        self.symbol = torch.randint(end, (batch, most))
        self.symbol[torch.arange(most)[None] >= self.count[:, None] - 1] = end
        return self.world_of(batch, symbol=self.symbol, count=self.count)

    def spell(self, p, states, lengths):
        """The logits (J, B, V) of each symbol after the true ones before it."""
        s, batch = self.s, len(states)
        mask = allowed(s, self.steps, lengths)
        now, found = last_state(states, lengths), self.core.begin(batch)
        steady = None
        if s["attention.hidden.kind"] != "attend":
            steady, _ = read(s, "decoder.context", p, self.steps - 1, states, lengths)
        previous, logits = torch.zeros(batch, self.classes), []
        for j in range(s["sight.symbols"]):
            found = self.core.advance(p, torch.cat([previous, now], 1), found)
            now = steady
            if steady is None:
                now = context(attend(s, "decoder.attend", p, j, found[0], states, mask), states)
            logits.append(linear(p, "decoder.output", torch.cat([found[0], now], 1)))
            previous = real(one_hot(self.symbol[:, j], self.classes))
        return torch.stack(logits)

    def value(self, logits):
        """(B): mean over the symbols that count."""
        truth = self.symbol.T[:, :, None]
        right = real(clear_argmax(logits)[:, :, None] == truth)
        worth = worth_of(self.s, right, softmax(logits, -1).gather(2, truth), self.classes)
        return (worth[..., 0] * self.counts).sum(0) / self.count

    def say(self, p, h, stop):
        """After a stop only the answer there is known, unless each is asked for."""
        self.stop = stop
        stop.decide(p, h)
        states = h.transpose(0, 1)
        self.counts = real(torch.arange(self.s["sight.symbols"])[:, None] < self.count)  # (J, B)
        length = torch.minimum(self.length, stop.looks()) if stop.learned else self.length
        self.logits = self.spell(p, states, length)
        self.probability = softmax(self.logits, -1)
        worth = self.value(self.logits).expand(self.steps, -1)
        gains, expected = self.s["reinforce.reward"] == "gain", stop.kind == "expected"
        if gains or expected:
            self.each = [self.spell(p, states, self.length.clamp(max=t + 1))
                         for t in range(self.steps)]
            worth = torch.stack([self.value(logits) for logits in self.each])
        self.worth = torch.zeros_like(worth) if gains else worth
        return earned_by(self.s, worth, self.classes, stop.chance if stop.learned else None)

    def label_loss(self, logits):
        """(B): summed over the symbols."""
        log_p = log_softmax(logits, -1).gather(2, self.symbol.T[:, :, None])[..., 0]
        return -(log_p * self.counts).sum(0)

    def losses(self, p, advantages):
        loss = self.label_loss(self.logits).sum()
        if self.stop.kind == "expected":
            each = torch.stack([self.label_loss(logits) for logits in self.each])
            loss = (self.stop.share * each).sum()
        return self.s["training.classifier_weight"] * loss, 0.0, 0.0


class Actions(Answering):
    """An action after every look; the most probable one, so that no noise is needed."""

    def shapes(self):
        return linear_shapes("classifier", self.state, self.classes)

    def world(self, batch):
        self.earned = uniform(self.steps, batch, self.classes)  # by each action
        return self.world_of(batch, earned=self.earned)

    def say(self, p, h, stop):
        stop.decide(p, h)
        self.logits = linear(p, "classifier", h)
        self.probability = softmax(self.logits, -1)
        self.taken = clear_argmax(self.logits)
        return self.earned.gather(2, self.taken[:, :, None])[..., 0]

    def losses(self, p, advantages):
        policy = Categorical(logits=self.logits)
        return 0.0, -(advantages * policy.log_prob(self.taken)
                      + self.s["reinforce.action_entropy"] * policy.entropy()).sum(), 0.0


def make_answering(s, state, steps):
    kinds = {"one_class": OneClass, "sequence": Sequence, "actions": Actions}
    return kinds[s["sight.answer"]](s, state, steps)
