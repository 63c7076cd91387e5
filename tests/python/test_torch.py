"""The smooth look in PyTorch."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import saccade
from env_cases import make_vec

torch = pytest.importorskip("torch", reason="needs torch")
import saccade.torch  # noqa: E402

torch.set_num_threads(1)  # two wait for each other where others work, too
EXAMPLE = Path(__file__).parents[2] / "examples" / "torch_agent.py"


def drawn(count=5, channels=1):
    return np.random.default_rng(3).integers(0, 256, (count, 20, 26, channels), dtype=np.uint8)


def bilinear(canvas, x, y, patch):
    """The finest scale written out: pixels interpolated, black beyond the canvas."""
    rows, cols = canvas.shape
    top, left = (y + 1) / 2 * rows - patch / 2, (x + 1) / 2 * cols - patch / 2
    padded = np.zeros((rows + 2 * patch + 2, cols + 2 * patch + 2))
    padded[patch : patch + rows, patch : patch + cols] = canvas / 255.0
    i, j = int(np.floor(top)), int(np.floor(left))
    v, u = top - i, left - j
    part = padded[patch + i : 2 * patch + i + 1, patch + j : 2 * patch + j + 1]
    over = (1 - u) * part[:, :-1] + u * part[:, 1:]
    return (1 - v) * over[:-1] + v * over[1:]


def test_a_look_interpolates_pixels():
    canvases = drawn()
    places = torch.tensor(np.random.default_rng(1).uniform(-1, 1, (5, 2)), dtype=torch.float32)
    prepared = saccade.torch.Canvases(canvases, patch_size=6, scales=2, threads=1)
    assert len(prepared) == 5 and prepared.glimpse_shape == (2, 1, 6, 6)
    glimpses = saccade.torch.look(prepared, places)
    assert glimpses.shape == (5, prepared.glimpse_size)
    for canvas, (x, y), glimpse in zip(canvases[..., 0], places.numpy(), glimpses):
        wanted = bilinear(canvas, float(x), float(y), 6)
        np.testing.assert_allclose(glimpse[:36].reshape(6, 6), wanted, atol=1e-4)


@pytest.mark.parametrize("channels", [1, 3])
def test_the_gradient_of_locations_is_that_of_finite_differences(channels):
    prepared = saccade.torch.Canvases(drawn(channels=channels), patch_size=5, scales=2)
    generator = torch.Generator().manual_seed(2)
    weights = torch.randn((5, prepared.glimpse_size), generator=generator)
    # Away from pixel edges, where the derivative jumps.
    edges = torch.tensor([26.0, 20.0])
    pixel = torch.randint(0, 20, (5, 2), generator=generator) + 0.75
    places = (2 * pixel / edges - 1).requires_grad_()
    (weights * saccade.torch.look(prepared, places)).sum().backward()
    step = 0.1 / 26
    for axis in range(2):
        offset = torch.zeros(5, 2)
        offset[:, axis] = step
        with torch.no_grad():
            up = (weights * saccade.torch.look(prepared, places + offset)).sum(-1)
            down = (weights * saccade.torch.look(prepared, places - offset)).sum(-1)
        slope = (up - down) / (2 * step)
        np.testing.assert_allclose(places.grad[:, axis], slope, rtol=2e-3, atol=2e-2)


@pytest.mark.parametrize("axes", [(5, 20, 26), (5, 1, 20, 26), (5, 20, 26, 1), (5, 20, 26, 3), (5, 3, 20, 26)])
def test_the_gradient_of_pixels_is_that_of_finite_differences(axes):
    """A look is linear in the pixels, so differences by whole bytes are exact but for rounding."""
    generator = torch.Generator().manual_seed(4)
    values = torch.randint(0, 255, axes, generator=generator).float()
    places = torch.rand(5, 2, generator=generator) * 2 - 1
    retina = {"patch_size": 5, "scales": 2}

    def weighted(pixels):
        prepared = saccade.torch.Canvases(pixels, **retina)
        weights = torch.linspace(-1, 2, 5 * prepared.glimpse_size).reshape(5, -1)
        return (weights * saccade.torch.look(prepared, places)).double().sum()

    pixels = (values / 255).requires_grad_()
    weighted(pixels).backward()
    assert pixels.grad.shape == pixels.shape and pixels.grad.abs().max() > 0.5
    for _ in range(40):
        place = tuple(int(torch.randint(0, side, (), generator=generator)) for side in axes)
        more = values.clone()
        more[place] += 1
        slope = 255 * (weighted(more / 255) - weighted(values / 255))
        assert float(slope) == pytest.approx(float(pixels.grad[place]), abs=5e-3)


def test_gradients_of_pixels_and_places_add_up_over_looks_and_do_not_depend_on_the_threads():
    places = torch.rand(3, 70, 2, generator=torch.Generator().manual_seed(1)) * 2 - 1
    values = torch.from_numpy(drawn(70)).float() / 255
    gradients = []
    for threads in (1, 2):
        pixels, there = values.clone().requires_grad_(), places.clone().requires_grad_()
        prepared = saccade.torch.Canvases(2 * pixels / 2, patch_size=6, scales=2, threads=threads)
        sum(saccade.torch.look(prepared, one).square().sum() for one in there).backward()
        gradients.append((pixels.grad, there.grad))
    assert all(torch.equal(one, two) for one, two in zip(*gradients))
    apart = torch.zeros_like(values)
    for one in places:
        pixels = values.clone().requires_grad_()
        prepared = saccade.torch.Canvases(pixels, patch_size=6, scales=2)
        saccade.torch.look(prepared, one).square().sum().backward()
        apart += pixels.grad
    torch.testing.assert_close(apart, gradients[0][0])
    constant = saccade.torch.Canvases(values, patch_size=6, scales=2)
    assert not saccade.torch.look(constant, places[0]).requires_grad


def test_results_do_not_depend_on_the_threads_and_other_types_come_back_as_they_went():
    canvases = drawn(200)
    places = torch.rand(200, 2, dtype=torch.float64) * 2 - 1
    one, two = (
        saccade.torch.look(saccade.torch.Canvases(canvases, threads=threads), places)
        for threads in (1, 2)
    )
    assert one.dtype == torch.float64 and torch.equal(one, two)


def test_the_canvases_of_environments_are_what_they_look_at():
    """In the middle of whole pixels, a look between pixels is one of the environment."""
    envs = make_vec("Centered28", 40, patch_size=8)
    seen, _ = envs.reset(seed=1)
    canvases = envs.canvases()
    assert canvases.shape == (40, 28, 28, 1) and canvases.max() > 200
    prepared = saccade.torch.Canvases(canvases, patch_size=8, scales=envs.glimpse_shape[0])
    location = np.tile(np.array([[4 / 28, -6 / 28]], np.float32), (40, 1))
    envs = make_vec("Centered28", 40, patch_size=8, num_glimpses=3)
    envs.reset(seed=1)
    seen, *_ = envs.step({"location": location, "answer": np.zeros(40, int)})
    ours = saccade.torch.look(prepared, torch.from_numpy(location))
    np.testing.assert_allclose(ours, seen["glimpse"].reshape(40, -1), atol=1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: saccade.torch.look(drawn(), torch.zeros(5, 2)), "canvases: ndarray; allowed: saccade.torch"),
        (lambda c: saccade.torch.look(c, np.zeros((5, 2))), "locations: ndarray; allowed: a tensor (N, 2)"),
        (lambda c: saccade.torch.look(c, torch.zeros(4, 2)), "locations: shape (4, 2); allowed: (5, 2)"),
        (lambda c: saccade.torch.look(c, torch.full((5, 2), 1.5)), "locations: 1.5 to 1.5; allowed: -1.0 to 1.0"),
        (lambda c: saccade.torch.look(c, torch.full((5, 2), torch.nan)), "a number that is not finite"),
        (lambda c: saccade.torch.Canvases(drawn(), patch_size=30), "retina.patch_size"),
        (lambda c: saccade.torch.Canvases(drawn(), scales=7), "scales: 7; allowed: 1 to 6"),
        (lambda c: saccade.torch.Canvases(drawn() * 1.0), "canvases: 0.0 to 255.0; allowed: 0.0 to 1.0"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(call, words):
    with pytest.raises(saccade.InputError) as error:
        call(saccade.torch.Canvases(drawn(), patch_size=6, scales=1))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("torch_agent.py", ["--minutes", "0.05"], "episodes, test error"),
        ("torch_agent.py", ["--minutes", "0.01", "--native"], "episodes, test error"),
        ("ppo_cleanrl.py", ["--steps", "2048"], "after 2,048 steps"),
    ],
)
def test_the_examples_run(file, options, words):
    done = subprocess.run(
        [sys.executable, EXAMPLE.with_name(file), *options],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert words in done.stdout.splitlines()[-1]


def test_backpropagation_teaches_the_example_agent_where_to_look():
    spec = importlib.util.spec_from_file_location("torch_agent", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    canvases = np.zeros((64, 24, 24), np.uint8)
    labels = torch.arange(64) % 2
    canvases[:, 2:8, 14:20] = 120  # always there, and brighter or darker within
    canvases[labels == 1, 4:6, 16:18] = 255
    prepared = saccade.torch.Canvases(canvases, patch_size=6, scales=2)
    model = module.RecurrentAttention(prepared.glimpse_size, 2, hidden=32)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(150):
        loss = torch.nn.functional.cross_entropy(model(prepared, 3), labels)
        optimizer.zero_grad()
        loss.backward()
        assert model.locator[0].weight.grad.abs().sum() > 0
        optimizer.step()
    assert (model(prepared, 3).argmax(-1) == labels).all()
