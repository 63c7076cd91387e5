"""When an agent stops looking and answers: T looks, after each of which it may stop; after the last
it always does. Of none and confidence, whose training is the same, only then.

    shapes()            of the parameters
    world(batch)        the decisions of a sampled stop, for the fixture
    decide(p, h, c)     from the states h_1 .. h_T, (T, B, H), and, of one class, the logits of the
                        classes after each look (T, B, C): writes, (T, B) each,
                        chance  of stopping after look t, if the episode came so far
                        reach   the probability of coming to look t
                        share   the probability of answering after look t
    losses(...)         REINFORCE of the decisions, and the price and the prior of an expected stop;
                        sums over the episodes

PonderNet (Banino, Balaguer and Blundell 2021): p_n = lambda_n prod_{j < n} (1 - lambda_j), of which
the last takes the rest; L = sum_n p_n L_n + beta KL(p || geometric prior)."""

import torch
from torch.distributions import Bernoulli

from cores import linear, linear_shapes
from fixture import Unclear


def rest_last(halting):
    """(T, B) of (T - 1, B)."""
    return torch.cat([halting, torch.ones_like(halting[:1])])


def come_so_far(chance):
    """prod_{j < t} (1 - chance_j)."""
    before = torch.cat([torch.ones_like(chance[:1]), 1.0 - chance[:-1]])
    return torch.cumprod(before, 0)


class Stopping:
    def __init__(self, s, state, steps):
        self.s, self.state, self.steps, self.kind = s, state, steps, s["attention.glimpse.stop"]
        self.learned = self.kind in ["sampled", "expected"]
        self.price = s["attention.glimpse.stop_price"] if self.learned else 0.0

    def shapes(self):
        if not self.learned:
            return {}
        odds = {} if self.s["sight.answer"] == "sequence" else {"stop.sureness": (1, 1)}
        return linear_shapes("stop", self.state, 1) | odds

    def world(self, batch):
        if self.kind != "sampled":
            return {}
        self.decision = rest_last(torch.randint(2, (self.steps - 1, batch)) * 1.0)
        return {"stop": self.decision}

    def decide(self, p, h, classes=None):
        self.chance = rest_last(torch.zeros(self.steps - 1, h.shape[1]))
        if self.learned:
            sampled = self.kind == "sampled"
            self.logits = linear(p, "stop", h[:-1].detach() if sampled else h[:-1])[..., 0]
            if classes is not None:
                most = torch.softmax(classes[:-1], -1).max(-1).values
                log_odds = (most / (1.0 - most)).log()
                self.logits = self.logits + p["stop.sureness"][0] * (
                    log_odds.detach() if sampled else log_odds)
            self.chance = rest_last(torch.sigmoid(self.logits))
        if self.kind == "sampled":
            self.chance = self.decision.to(h.dtype)
        self.reach = come_so_far(self.chance)
        self.share = self.reach * self.chance

    def looks(self):
        """(B): after which it answers: the first that ends it with a chance of more than a half."""
        stopped = 1.0 - self.reach * (1.0 - self.chance)
        if (stopped - 0.5).abs().min() < 1e-3:
            raise Unclear("it has stopped with a chance of almost a half")
        return (stopped > 0.5).int().argmax(0) + 1

    def losses(self, worth, returns, advantages, baseline):
        """`worth` (T, B): what it earns to stop after look t."""
        if self.kind == "sampled":
            return self.reinforce(worth, returns, advantages, baseline), 0.0
        if self.kind == "expected":
            return 0.0, self.penalty()
        return 0.0, 0.0

    def reinforce(self, worth, returns, advantages, baseline):
        """Both ways are compared with the same estimate of what follows the next look."""
        traced = self.s["reinforce.advantage"] == "gae"
        estimate = (baseline if traced else returns - advantages)[1:]
        stopped, reach = self.decision[:-1], self.reach[:-1]
        value = torch.where(stopped == 1.0, worth[:-1], estimate + advantages[1:]) - estimate
        policy = Bernoulli(logits=self.logits)
        return -(reach * (self.s["reinforce.weight"] * value.detach() * policy.log_prob(stopped)
                          + self.s["reinforce.entropy"] * policy.entropy())).sum()

    def penalty(self):
        further = torch.arange(self.steps)[:, None]
        prior = rest_last(torch.full_like(self.logits, self.s["attention.glimpse.stop_prior"]))
        prior = come_so_far(prior) * prior
        divergence = (self.share * (self.share / prior).log()).sum()
        return (self.price * (further * self.share).sum()
                + self.s["attention.glimpse.stop_prior_weight"] * divergence)
