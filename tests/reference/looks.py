"""Where to look and what is seen there: one class for each family; those that read the canvas
itself are in canvas_looks.py. All have

    shapes()               of their parameters
    steps, features        T, and F of what the core reads
    world(batch)           what the environment shows and what the policy did, for the fixture
    begin(p)               before the first look
    look(p, t, h)          the feature (B, F) that the core reads at step t, from h_t (B, H)
    losses(p, h, a)        after the last: REINFORCE from the states h_0 .. h_{T-1} and the
                           advantages a and reach (T, B), and the penalties; sums over the episodes

and keep their decisions and locations, (T, B, ..), and `entropy`, the mean over the looks."""

import math

import torch
from torch.distributions import Categorical, Normal
from torch.nn.functional import conv2d, one_hot, relu, softmax

from cores import linear, linear_shapes
from fixture import normal, real, uniform
from reads import score, score_shapes


def glimpse_shapes(glimpse, what, where, features, location=2):
    return (linear_shapes("glimpse.what", glimpse, what)
            | linear_shapes("glimpse.where", location, where)
            | linear_shapes("glimpse.joint", what + where, features))


def glimpse_network(p, glimpse, location):
    what = relu(linear(p, "glimpse.what", glimpse))
    where = relu(linear(p, "glimpse.where", location))
    # W_3 and W_4 apart, as the paper writes them.
    w3, w4 = p["glimpse.joint.weight"].split([what.shape[-1], where.shape[-1]])
    return relu(what @ w3 + where @ w4 + p["glimpse.joint.bias"])


def residual_shapes(s, channels):
    """He et al. (2016) without normalisation: `stage<n>.enter`, and blocks of two convolutions."""
    shapes, filters = {}, s["model.glimpse_filters"]
    for stage in range(1, s["model.glimpse_stages"] + 1):
        name = f"glimpse.filters.stage{stage}"
        shapes |= linear_shapes(f"{name}.enter", 9 * channels, filters)
        for block in range(1, s["model.glimpse_blocks"] + 1):
            for layer in ["first", "second"]:
                shapes |= linear_shapes(f"{name}.block{block}.{layer}", 9 * filters, filters)
        channels, filters = filters, 2 * filters
    return shapes


def convolution(p, name, images, kernel, stride=1, padding=0):
    """(N, channels, rows, cols); our weights have the rows (row, col, channel)."""
    weight = p[f"{name}.weight"].view(kernel, kernel, images.shape[1], -1).permute(3, 2, 0, 1)
    return conv2d(images, weight, p[f"{name}.bias"][0], stride, padding)


def residual(p, s, images):
    x = images
    for stage in range(1, s["model.glimpse_stages"] + 1):
        name = f"glimpse.filters.stage{stage}"
        x = relu(convolution(p, f"{name}.enter", x, 3, 1 if stage == 1 else 2, 1))
        for block in range(1, s["model.glimpse_blocks"] + 1):
            inner = relu(convolution(p, f"{name}.block{block}.first", x, 3, 1, 1))
            x = relu(x + convolution(p, f"{name}.block{block}.second", inner, 3, 1, 1))
    return x


def locator_shapes(state, hidden, output, outputs):
    return (linear_shapes("locator.hidden", state, hidden)
            | linear_shapes(f"locator.{output}", hidden, outputs))


def locator(p, output, state, context=None):
    weight = p["locator.hidden.weight"]
    if context is not None:  # of [h | c]
        weight = torch.cat([weight, p["locator.context.hidden.weight"]])
        state = torch.cat([state, context], 1)
    hidden = relu(state @ weight + p["locator.hidden.bias"])
    return linear(p, f"locator.{output}", hidden)


def shares(size, small):
    """(small, size): which share of a small pixel each pixel has."""
    side = size / small
    edges = torch.arange(small)[:, None] * side
    pixels = torch.arange(size)[None]
    overlap = (torch.minimum(edges + side, pixels + 1.0) - torch.maximum(edges, pixels * 1.0))
    return overlap.clamp(min=0) / side


def shrunk(images, rows, cols):
    """(B, channels, rows, cols): by area."""
    return torch.einsum("iy,bcyx,jx->bcij", shares(images.shape[2], rows), images,
                        shares(images.shape[3], cols))


def size_of_glimpse(s, otherwise):
    """D, where the fixture says what a glimpse is made of."""
    if "sight.scales" not in s:
        return otherwise
    return s["sight.channels"] * s["sight.scales"] * s["sight.patch"] ** 2


class Looking:
    glimpse_size = 0
    location_size = 2    # (x, y), or with a zoom (x, y, u)
    first_action = None  # the first look that REINFORCE learns; None: no look is learned so

    def __init__(self, s):
        self.s = s
        self.steps = s["attention.glimpse.num_glimpses"]
        self.features = s["model.feature_size"]
        self.decisions, self.locations, self.entropy = [], [], 0.0

    def begin(self, p):
        pass

    def losses(self, p, h, advantages, reach):
        return 0.0, 0.0

    def size_of_canvas(self):
        return [self.s[f"sight.{side}"] for side in ["channels", "rows", "cols"]]

    def images(self):
        return self.canvas.reshape(-1, *self.size_of_canvas())

    def has_context(self):
        return self.s["model.context"] != "none"

    def show_context(self, batch):
        """For the families whose world has no canvas yet."""
        if not self.has_context():
            return {}
        self.canvas = uniform(batch, math.prod(self.size_of_canvas()))
        return {"canvas": self.canvas}

    def place_shapes(self, output, outputs):
        s, hidden = self.s, self.s["model.locator_hidden"]
        shapes = locator_shapes(s["model.hidden_size"], hidden, output, outputs)
        if self.has_context():
            width = s["model.context_hidden"]
            pixels = s["sight.channels"] * s["model.context_size"] ** 2
            shapes |= linear_shapes("locator.context", pixels, width)
            shapes["locator.context.hidden.weight"] = (width, hidden)
        return shapes

    def place(self, p, output, h):
        """The locator's word on h, and on the canvas shrunk (Ba et al. 2015, section 3.1)."""
        if self.s["attention.glimpse.detach_state"]:
            h = h.detach()
        if not self.has_context():
            return locator(p, output, h)
        side = self.s["model.context_size"]
        thumbnail = shrunk(self.images(), side, side).flatten(1)
        return locator(p, output, h, relu(linear(p, "locator.context", thumbnail)))

    def side(self):
        """Of the squares that a glimpse is made of."""
        return self.s["sight.patch"]

    def network_shapes(self):
        s, shapes, size = self.s, {}, self.glimpse_size
        if s["model.glimpse_network"] == "residual":
            channels = size // self.side() ** 2
            shapes = residual_shapes(s, channels)
            last = s["model.glimpse_stages"] - 1
            side = (self.side() - 1) // 2 ** last + 1  # each halved, rounded up
            size = side ** 2 * s["model.glimpse_filters"] * 2 ** last
        if s["model.glimpse_network"] == "conv":
            kernel, filters = s["model.glimpse_kernel"], s["model.glimpse_filters"]
            shapes = linear_shapes("glimpse.filters", kernel ** 2 * s["sight.channels"], filters)
            scales = size // (s["sight.channels"] * self.side() ** 2)
            positions = ((self.side() - kernel) // s["model.glimpse_stride"] + 1) ** 2
            size = scales * positions * filters
        return shapes | glimpse_shapes(size, s["model.glimpse_hidden"], s["model.location_hidden"],
                                       self.features, self.location_size)

    def feature(self, p, glimpse, location):
        """Of glimpses (.., D): through the filters, where there are any."""
        network = self.s["model.glimpse_network"]
        if network == "mlp":
            return glimpse_network(p, glimpse, location)
        side = self.side()
        if network == "residual":  # the scales as channels
            channels = glimpse.shape[-1] // side ** 2
            seen = residual(p, self.s, glimpse.reshape(-1, channels, side, side))
        else:
            scales = glimpse.reshape(-1, self.s["sight.channels"], side, side)
            seen = relu(convolution(p, "glimpse.filters", scales, self.s["model.glimpse_kernel"],
                                    self.s["model.glimpse_stride"]))
        seen = seen.permute(0, 2, 3, 1).reshape(*glimpse.shape[:-1], -1)
        return glimpse_network(p, seen, location)


class Point(Looking):
    """Mnih et al. (2014): l ~ N(mu, std^2), and controls that nobody learns."""

    glimpse_size = 8

    def __init__(self, s):
        super().__init__(s)
        self.glimpse_size = size_of_glimpse(s, self.glimpse_size)
        low, high = s["attention.glimpse.zoom"]
        self.zooms = low < high
        self.location_size = 3 if self.zooms else 2
        self.learned = s["attention.glimpse.kind"] == "hard_gaussian"
        self.first_learned = s["attention.glimpse.first"] == "learned"
        if self.learned:
            self.first_action = 0 if self.first_learned else 1

    def shapes(self):
        shapes = self.network_shapes() | self.place_shapes("mean", self.location_size)
        if self.first_learned and not self.has_context():
            shapes["locator.first"] = (1, self.location_size)
        if self.s["attention.glimpse.learn_std"]:
            shapes["locator.log_std"] = (1, 1)
        return shapes

    def world(self, batch):
        self.glimpse = uniform(self.steps, batch, self.glimpse_size)
        self.action = normal(self.steps, batch, self.location_size, scale=0.7)
        return {"glimpse": self.glimpse, "action": self.action} | self.show_context(batch)

    def begin(self, p):
        learned = self.s["attention.glimpse.learn_std"]
        self.std = (p["locator.log_std"].exp() if learned
                    else torch.tensor(self.s["attention.glimpse.std"]))

    def deviations(self):
        """Of each number of a location: the zoom has its own."""
        if not self.zooms:
            return self.std
        zoom = torch.tensor([self.s["attention.glimpse.zoom_std"]])
        return torch.cat([self.std.reshape(1).expand(2), zoom])

    def mean(self, p, t, h):
        if t > 0 or (self.first_learned and self.has_context()):
            return torch.tanh(self.place(p, "mean", h))
        first = p["locator.first"] if self.first_learned else torch.zeros(1, self.location_size)
        return torch.tanh(first).expand(len(h), self.location_size)

    def entropy_of_a_look(self):
        of_place = Normal(0.0, self.std).entropy().sum() * 2
        if not self.zooms:
            return of_place
        return of_place + Normal(0.0, self.s["attention.glimpse.zoom_std"]).entropy()

    def count_entropy(self, h):
        self.entropy += self.entropy_of_a_look() * len(h) / self.steps

    def look(self, p, t, h):
        self.decisions.append(self.mean(p, t, h))
        location = self.action[t].clamp(-1, 1)
        self.locations.append(location)
        self.count_entropy(h)
        return self.feature(p, self.glimpse[t], location)

    def losses(self, p, h, advantages, reach):
        reinforce = 0.0
        for t in range(self.first_action if self.learned else self.steps, self.steps):
            policy = Normal(self.mean(p, t, h[t].detach()), self.deviations())
            log_p = policy.log_prob(self.action[t]).sum(-1)
            reinforce -= (self.s["reinforce.weight"] * reach[t] * advantages[t] * log_p
                          + self.s["reinforce.entropy"] * reach[t] * policy.entropy().sum(-1)).sum()
        return reinforce, 0.0


class Grid(Looking):
    """A distribution over the candidates of a grid, sampled or averaged over."""

    glimpse_size = 7

    def __init__(self, s):
        super().__init__(s)
        self.glimpse_size = size_of_glimpse(s, self.glimpse_size)
        self.soft = s["attention.glimpse.kind"] == "soft_grid"
        self.content = s["attention.glimpse.addressing"] == "content"
        self.places = self.make_places()
        self.first_learned = 0 if s["attention.glimpse.first"] == "learned" else 1
        if not self.soft:
            self.first_action = self.first_learned

    def make_places(self):
        """(G, 2): x, y of the centres, row by row."""
        s, centres = self.s, []
        for axis, name in enumerate(["sight.rows", "sight.cols"]):
            tiles = s["attention.glimpse.tiles"][axis]
            if tiles > 0:
                centres.append((2 * torch.arange(tiles) + 1) / tiles - 1.0)
            else:
                n = s["attention.glimpse.grid"][axis]
                pixels = (torch.arange(n) - (n - 1) / 2) * s["attention.glimpse.stride"]
                centres.append(pixels * 2 / s[name])
        y, x = torch.meshgrid(*centres, indexing="ij")
        return real(torch.stack([x.flatten(), y.flatten()], 1))

    def shapes(self):
        s = self.s
        if self.content:
            placed = score_shapes(s["attention.glimpse.score"], "locator.score",
                                  s["model.hidden_size"], self.features,
                                  s.get("attention.glimpse.score_hidden"))
        else:
            placed = self.place_shapes("logits", len(self.places))
        return self.network_shapes() | placed

    def world(self, batch):
        count = len(self.places)
        self.candidate = uniform(batch, count, self.glimpse_size)
        self.choice = torch.randint(count, (self.steps, batch))
        tensors = {"candidate": self.candidate, "place": self.places} | self.show_context(batch)
        return tensors if self.soft else tensors | {"action": real(one_hot(self.choice, count))}

    def begin(self, p):
        self.keys = self.feature(p, self.candidate, self.places)

    def distribution(self, p, t, h, keys):
        s, count = self.s, len(self.places)
        if t < self.first_learned:
            if s["attention.glimpse.first"] == "random":
                return torch.full((len(h), count), 1.0 / count)
            return real(one_hot((self.places ** 2).sum(1).argmin(), count)).expand(len(h), count)
        logits = (score(s["attention.glimpse.score"], "locator.score", p, h, keys) if self.content
                  else self.place(p, "logits", h))
        return softmax(logits / s["attention.glimpse.temperature"], 1)

    def weights(self, p, t, h):
        chances = self.distribution(p, t, h, self.keys)
        self.decisions.append(chances)
        self.entropy += Categorical(probs=chances).entropy().sum() / self.steps
        return chances if self.soft else real(one_hot(self.choice[t], len(self.places)))

    def look(self, p, t, h):
        w = self.weights(p, t, h)
        location = w @ self.places
        self.locations.append(location)
        if self.soft and self.s["attention.glimpse.expect"] == "features":
            return torch.einsum("bg,bgf->bf", w, self.keys)
        return self.feature(p, torch.einsum("bg,bgd->bd", w, self.candidate), location)

    def losses(self, p, h, advantages, reach):
        s, learned = self.s, range(self.first_learned, self.steps)
        if not self.soft:
            reinforce = 0.0
            for t in learned:
                policy = Categorical(self.distribution(p, t, h[t].detach(), self.keys.detach()))
                reinforce -= (reach[t] * (s["reinforce.weight"] * advantages[t]
                                          * policy.log_prob(self.choice[t])
                                          + s["reinforce.entropy"] * policy.entropy())).sum()
            return reinforce, 0.0
        w = torch.stack(self.decisions, 1)  # (B, T, G)
        coverage = ((1.0 - w.sum(1)) ** 2).sum()
        rows = ((w @ w.transpose(1, 2) - torch.eye(self.steps)) ** 2).sum()
        entropy = sum(Categorical(w[:, t]).entropy().sum() for t in learned) / self.steps
        return 0.0, (s["attention.glimpse.coverage"] * coverage
                     + s["attention.glimpse.row_penalty"] * rows
                     - s["attention.glimpse.entropy"] * entropy)
