"""The families that read the canvas itself (the contract is in looks.py): a window of filters,
points between pixels, the canvas as it is, and networks that see all of it."""

import math

import torch
from torch.nn.functional import grid_sample, one_hot, relu, softmax

from cores import linear, linear_shapes
from fixture import normal, pixels, real, uniform
from looks import Grid, Looking, Point, shrunk, size_of_glimpse


class CanvasLooking(Looking):
    def world(self, batch):
        self.canvas = uniform(batch, math.prod(self.size_of_canvas()))
        return {"canvas": self.canvas}


class Window(CanvasLooking):
    """The read of DRAW (Gregor et al. 2015, equations 21 to 27)."""

    def __init__(self, s):
        super().__init__(s)
        self.glimpse_size = s["sight.channels"] * s["attention.glimpse.filters"] ** 2

    def side(self):
        return self.s["attention.glimpse.filters"]

    def shapes(self):
        return self.network_shapes() | self.place_shapes("window", 5)

    def filters(self, centre, delta, variance, size):
        """F (B, N, size): rows are Gaussians around mu_i that sum to one."""
        n = self.s["attention.glimpse.filters"]
        i, a = torch.arange(1, n + 1), torch.arange(1, size + 1)
        mu = centre[:, None] + (i - n / 2 - 0.5) * delta[:, None]
        return softmax(-((a - mu[:, :, None]) ** 2) / (2 * variance[:, None, None]), 2)

    def look(self, p, t, h):
        rows, cols, n = (self.s[k] for k in ["sight.rows", "sight.cols",
                                             "attention.glimpse.filters"])
        window = self.place(p, "window", h)
        self.decisions.append(window)
        location = window[:, :2] * torch.tensor([(cols + 1) / cols, (rows + 1) / rows])
        self.locations.append(location)
        g_x, g_y, log_variance, log_delta, log_gamma = window.unbind(1)
        delta = (max(rows, cols) - 1) / (n - 1) * log_delta.exp()
        f_x = self.filters((cols + 1) / 2 * (g_x + 1), delta, log_variance.exp(), cols)
        f_y = self.filters((rows + 1) / 2 * (g_y + 1), delta, log_variance.exp(), rows)
        seen = torch.einsum("bjy,bcyx,bix->bcji", f_y, self.images(), f_x)
        seen = log_gamma.exp()[:, None, None, None] * seen
        # Of a uniform distribution over the square that the filters part, in half canvases.
        self.entropy += torch.log(4 * (n * delta) ** 2 / (rows * cols)).sum() / self.steps
        return self.feature(p, seen.flatten(1), location)


class SmoothPoint(CanvasLooking, Point):
    """The retina between pixels: bilinear (Jaderberg et al. 2015) at the finest scale, and at the
    coarser ones the mean over a box with real edges. The canvas moves where the agent acts. A
    Gaussian is derived through its sample, l = mu + std epsilon, unless it learns by its score
    alone: then only relative moves look between pixels."""

    def __init__(self, s):
        super().__init__(s)
        self.by_score = self.learned and s["reinforce.estimator"] == "score"
        self.soft = not self.by_score and s["reinforce.estimator"] != "both"
        if self.soft:
            self.first_action = None
        self.glimpse_size = size_of_glimpse(s, None)

    def world(self, batch):
        moves = self.s["sight.answer"] == "actions"
        self.canvas = pixels(self.steps if moves else 1, batch, math.prod(self.size_of_canvas()))
        canvas = {"canvas": self.canvas if moves else self.canvas[0]}
        if not self.learned:
            return canvas
        self.action = normal(self.steps, batch, self.location_size, scale=0.7)
        return canvas | {"action": self.action}

    def begin(self, p):
        if self.learned:
            super().begin(p)

    def centres(self, location, axis, zoom):
        """(B, P): of the boxes along a side, in pixels."""
        patch = self.s["sight.patch"]
        side = self.s["sight.cols" if axis == 0 else "sight.rows"]
        return ((location[:, axis, None] + 1) / 2 * side
                + (torch.arange(patch) - (patch - 1) / 2) * zoom)

    def shares(self, centres, size, zoom):
        """(B, P, size): how much of a pixel lies in a box, by the box's side."""
        left, right = (centres[..., None] + sign * zoom / 2 for sign in (-1, 1))
        pixel = torch.arange(size) * 1.0
        return (torch.minimum(right, pixel + 1) - torch.maximum(left, pixel)).clamp(0) / zoom

    def see_zoomed(self, images, location):
        """The mean over boxes whose side is part of the location, so that it is derived by it."""
        low, high = self.s["attention.glimpse.zoom"]
        closest = (low * (high / low) ** ((1 + location[:, 2]) / 2))[:, None]
        patch, scales = self.s["sight.patch"], []
        for scale in range(self.s["sight.scales"]):
            side = closest * 2 ** scale  # (B, 1)
            shares = []
            for axis, pixels in enumerate([self.s["sight.cols"], self.s["sight.rows"]]):
                start = (location[:, axis, None] + 1) / 2 * pixels - patch / 2 * side
                left = (start + torch.arange(patch) * side)[..., None]
                right = left + side[..., None]
                pixel = torch.arange(pixels) * 1.0
                overlap = torch.minimum(right, pixel + 1) - torch.maximum(left, pixel)
                shares.append(overlap.clamp(0) / side[..., None])
            scales.append(torch.einsum("biy,bcyx,bjx->bcij", shares[1], images, shares[0]))
        return torch.stack(scales, 1).flatten(1)

    def see(self, images, location):
        if self.zooms:
            return self.see_zoomed(images, location)
        rows, cols = self.s["sight.rows"], self.s["sight.cols"]
        x, y = (2 * self.centres(location, axis, 1) / side - 1
                for axis, side in enumerate([cols, rows]))
        grid = torch.stack(torch.broadcast_tensors(x[:, None, :], y[:, :, None]), 3)
        scales = [grid_sample(images, grid, "bilinear", "zeros", align_corners=False)]
        for scale in range(1, self.s["sight.scales"]):
            zoom = 2 ** scale
            wide = self.shares(self.centres(location, 0, zoom), cols, zoom)
            high = self.shares(self.centres(location, 1, zoom), rows, zoom)
            scales.append(torch.einsum("biy,bcyx,bjx->bcij", high, images, wide))
        return torch.stack(scales, 1).flatten(1)

    def moved(self, t, action):
        """The location that an action leads to; a zoom is no move."""
        if self.s["attention.glimpse.moves"] == "absolute":
            return action.clamp(-1, 1)
        sides = torch.tensor([self.s["sight.cols"], self.s["sight.rows"]])
        reach = 1.0 - self.s["sight.patch"] / real(sides)
        action, zoom = action[:, :2], action[:, 2:].clamp(-1, 1)
        if t == 0:
            return torch.cat([reach * action.clamp(-1, 1), zoom], 1)
        step = action / torch.linalg.vector_norm(action, dim=1, keepdim=True).clamp(min=1.0)
        place = self.locations[-1][:, :2] + self.s["attention.glimpse.max_step"] * step
        return torch.cat([torch.maximum(torch.minimum(place, reach), -reach), zoom], 1)

    def look(self, p, t, h):
        action = self.mean(p, t, h)
        self.decisions.append(action)
        if self.learned:
            self.count_entropy(h)
            std = self.deviations()
            noise = ((self.action[t] - action) / std).detach()
            drawn = not self.by_score and (t > 0 or self.first_learned)
            action = action + std * noise if drawn else self.action[t]
        location = self.moved(t, action)
        self.locations.append(location)
        images = self.canvas[t % len(self.canvas)].view(-1, *self.size_of_canvas())
        return self.feature(p, self.see(images, location), location)

    def losses(self, p, h, advantages, reach):
        if not self.learned:
            return 0.0, 0.0
        if not self.soft:
            return super().losses(p, h, advantages, reach)
        looks = reach[0 if self.first_learned else 1:].sum()
        return -self.s["reinforce.entropy"] * looks * self.entropy_of_a_look(), 0.0


class Steps(Grid):
    """A distribution over steps from the last location, one of which is sampled; the eye is that
    of a point between pixels."""

    def __init__(self, s):
        super().__init__(s)
        self.point = SmoothPoint(s)
        self.locations = self.point.locations

    def make_places(self):
        """(G, 2): the actions."""
        sides = [torch.linspace(-1, 1, n) for n in self.s["attention.glimpse.grid"]]
        y, x = torch.meshgrid(*sides, indexing="ij")
        return real(torch.stack([x.flatten(), y.flatten()], 1))

    def world(self, batch):
        count = len(self.places)
        self.choice = torch.randint(count, (self.steps, batch))
        return self.point.world(batch) | {"action": real(one_hot(self.choice, count))}

    def begin(self, p):
        self.keys = torch.zeros(0)

    def look(self, p, t, h):
        location = self.point.moved(t, self.weights(p, t, h) @ self.places)
        self.locations.append(location)
        images = self.point.canvas[0].view(-1, *self.size_of_canvas())
        return self.feature(p, self.point.see(images, location), location)


class Whole(CanvasLooking):
    """The canvas itself, shrunk by area, a row a step or all at once."""

    def __init__(self, s):
        super().__init__(s)
        self.size = [s["attention.glimpse.size"][i] or s[f"sight.{side}"]
                     for i, side in enumerate(["rows", "cols"])]
        self.by_rows = s["attention.glimpse.order"] == "rows"
        self.steps = self.size[0] if self.by_rows else 1
        self.features = (s["sight.channels"] * self.size[1]
                         * (1 if self.by_rows else self.size[0]))

    def shapes(self):
        return {}

    def look(self, p, t, h):
        small = shrunk(self.images(), *self.size)
        return (small[:, :, t] if self.by_rows else small).flatten(1)


class Canvas(CanvasLooking):
    """Networks that see the whole canvas; there is no core."""

    def __init__(self, s):
        super().__init__(s)
        self.steps = 1
        self.kernel = s.get("model.kernel_size")

    def shapes(self):
        s = self.s
        channels, rows, cols = self.size_of_canvas()
        if s["model.kind"] == "mlp":
            hidden = s["model.canvas_hidden"]
            return (linear_shapes("canvas.hidden", channels * rows * cols, hidden)
                    | linear_shapes("canvas.feature", hidden, self.features))
        one, two = s["model.channels"]
        shrunk = lambda side: (side + 2 * (self.kernel // 2) - self.kernel) // 2 + 1
        outputs = two * shrunk(shrunk(rows)) * shrunk(shrunk(cols))
        return (linear_shapes("canvas.conv1", self.kernel ** 2 * channels, one)
                | linear_shapes("canvas.conv2", self.kernel ** 2 * one, two)
                | linear_shapes("canvas.feature", outputs, self.features))

    def convolve(self, p, name, x):
        """Our weights are (row, column, input; output)."""
        k, w = self.kernel, p[f"{name}.weight"]
        weight = w.view(k, k, x.shape[1], w.shape[1]).permute(3, 2, 0, 1)
        return relu(torch.nn.functional.conv2d(x, weight, p[f"{name}.bias"][0], stride=2,
                                               padding=k // 2))

    def look(self, p, t, h):
        if self.s["model.kind"] == "mlp":
            x = relu(linear(p, "canvas.hidden", self.canvas))
        else:
            x = self.convolve(p, "canvas.conv2", self.convolve(p, "canvas.conv1", self.images()))
            x = x.permute(0, 2, 3, 1).flatten(1)  # the linear layer reads (row, column, channel)
        return relu(linear(p, "canvas.feature", x))
