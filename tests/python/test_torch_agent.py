"""Trained agents as modules of PyTorch, and the traces below them."""

import copy

import numpy as np
import pytest
import saccade

torch = pytest.importorskip("torch", reason="needs torch")
import saccade.torch  # noqa: E402
from test_agents import WAYS, runs, some_images  # noqa: E402, F401

torch.set_num_threads(1)  # two wait for each other where others work, too


def images():
    return some_images(40)


@pytest.mark.parametrize("way", WAYS)
def test_a_module_answers_as_its_agent(runs, way):
    module = saccade.torch.Agent(runs[way], threads=1)
    logits = module(torch.from_numpy(images()))
    assert logits.shape == (40, 4, 10)
    wanted = module.agent.rollout(images()).probabilities
    np.testing.assert_allclose(logits.softmax(-1).detach(), wanted, atol=1e-6)
    assert set(module.state_dict()) == set(module.agent.parameters)
    for readout in ("sampled", "argmax"):
        logits = module(torch.from_numpy(images()), readout=readout, seed=5, sample=2)
        wanted = module.agent.rollout(images(), readout=readout, seed=5, sample=2).probabilities
        np.testing.assert_allclose(logits.softmax(-1).detach(), wanted, atol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_the_gradient_by_the_images_is_the_saliency(runs, way):
    module = saccade.torch.Agent(runs[way])
    saliency = module.agent.saliency(images())
    pixels = (torch.from_numpy(images()).float() / 255).requires_grad_()
    last = module(pixels, seed=777)[:, -1]  # evaluation.seed, as saliency
    chosen = torch.from_numpy(saliency["chosen"][:, 0]).long()
    last.gather(1, chosen[:, None]).sum().backward()
    np.testing.assert_allclose(
        pixels.grad, saliency["canvas_jacobian"][:, 0, 0], rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("axes", [(40, 32, 36), (40, 1, 32, 36), (40, 32, 36, 1)])
def test_gradients_have_the_shape_and_the_order_of_the_images(runs, axes):
    module = saccade.torch.Agent(runs["smooth"])
    pixels = (torch.from_numpy(images()).float() / 255).reshape(axes).requires_grad_()
    module(pixels).square().sum().backward()
    flat = (torch.from_numpy(images()).float() / 255).requires_grad_()
    module(flat).square().sum().backward()
    assert torch.equal(pixels.grad.reshape(40, 32, 36), flat.grad)


@pytest.mark.parametrize("way", ["grid", "window"])  # whose places do not read a detached state
def test_the_gradient_by_the_weights_is_that_of_differences(runs, way):
    """Along the gradient itself, where the change is largest beside the rounding."""
    module = saccade.torch.Agent(runs[way])
    scenes = torch.from_numpy(images())
    factors = torch.randn((40, 4, 10), generator=torch.Generator().manual_seed(1))
    (factors * module(scenes)).sum().backward()
    weights = list(module.parameters())
    norm = torch.sqrt(sum(w.grad.square().sum() for w in weights if w.grad is not None))

    def at(step):
        with torch.no_grad():
            for w in weights:
                w += step * w.grad / norm
            value = (factors * module(scenes)).double().sum()
            for w in weights:
                w -= step * w.grad / norm
        return float(value)

    slope = (at(2e-3) - at(-2e-3)) / 4e-3
    assert slope == pytest.approx(float(norm), rel=0.03)


def test_an_optimiser_changes_the_agent(runs, tmp_path):
    agent = saccade.load(runs["points"])
    module = saccade.torch.Agent(agent)
    assert module.agent is agent
    scenes, labels = torch.from_numpy(images()), torch.arange(40) % 10
    optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(module(scenes)[:, -1], labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < losses[0] - 0.3
    again = saccade.load(agent.save(tmp_path / "tuned.safetensors"))
    np.testing.assert_array_equal(
        again.rollout(images()).probabilities, agent.rollout(images()).probabilities
    )
    shared = module.state_dict()["classifier.bias"]
    np.testing.assert_array_equal(shared.numpy(), again.parameters["classifier.bias"])


def test_a_larger_model_is_trained_through_the_agent(runs):
    """A layer before and a layer behind it get gradients; frozen weights get none."""
    module = saccade.torch.Agent(runs["smooth"]).requires_grad_(False)
    gain = torch.tensor(0.5, requires_grad=True)
    head = torch.nn.Linear(10, 2)
    pixels = torch.from_numpy(images()).float() / 255
    head(module(gain * pixels)[:, -1]).square().sum().backward()
    assert gain.grad.abs() > 0 and head.weight.grad.abs().max() > 0
    assert all(weight.grad is None for weight in module.parameters())


def test_traces_do_not_depend_on_the_threads_and_keep_their_weights(runs):
    one, two = (saccade.load(runs["grid"], threads=threads) for threads in (1, 2))
    dlogits = np.random.default_rng(0).normal(size=(40, 4, 10)).astype(np.float32)
    trace = one.trace(images())
    one.set_parameters({"classifier.bias": np.ones((1, 10))})
    by_weight, by_image = trace.gradients(dlogits)
    others, images_too = two.trace(images()).gradients(dlogits)
    assert set(by_weight) == set(one.parameters)
    for name, gradient in by_weight.items():
        np.testing.assert_array_equal(gradient, others[name])
    np.testing.assert_array_equal(by_image, images_too)
    np.testing.assert_allclose(
        by_weight["classifier.bias"][0], dlogits.sum((0, 1)), rtol=1e-4, atol=1e-4
    )


def test_where_a_hard_agent_looks_is_held_constant(runs):
    by_weight, _ = saccade.load(runs["points"]).trace(images()).gradients(np.ones((40, 4, 10)))
    locator = [gradient for name, gradient in by_weight.items() if name.startswith("locator")]
    assert locator and not any(gradient.any() for gradient in locator)
    assert by_weight["core.weight"].any()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda run: saccade.torch.Agent(run)(images()), "images: ndarray; allowed: a tensor"),
        (
            lambda run: saccade.torch.Agent(run)(torch.zeros(2, 5, 6)),
            "images: 2 of 5 x 6 pixels and 1 channels; allowed: one and more of 32 x 36 and 1",
        ),
        (
            lambda run: saccade.load(run).trace(images()).gradients(np.zeros((40, 4, 9))),
            "dlogits: shape (40, 4, 9); allowed: (40, 4, 10)",
        ),
        (
            lambda run: saccade.load(run).trace(images()).gradients(np.full((40, 4, 10), np.nan)),
            "dlogits: contains a number that is not finite",
        ),
        (lambda run: saccade.load(run).trace(images(), readout="x"), "unknown readout 'x'"),
    ],
)
def test_bad_input(runs, call, words):
    with pytest.raises(saccade.InputError) as error:
        call(runs["points"])
    assert words in str(error.value)


def test_a_copy_has_an_agent_of_its_own(runs):
    module = saccade.torch.Agent(runs["grid"], threads=1)
    module.get_parameter("core.weight").requires_grad_(False)
    module.eval()
    scenes = torch.from_numpy(images())
    before = module(scenes).detach()
    twin = copy.deepcopy(module)
    assert not twin.get_parameter("core.weight").requires_grad and not twin.training
    with torch.no_grad():
        twin.get_parameter("classifier.bias").add_(1.0)
    assert torch.equal(module(scenes), before)
    torch.testing.assert_close(twin(scenes), before + 1.0)
    np.testing.assert_array_equal(
        twin.agent.parameters["classifier.bias"], module.agent.parameters["classifier.bias"] + 1
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda module: module.double(),
        lambda module: module.load_state_dict(
            {name: each.clone() for name, each in module.state_dict().items()}, assign=True
        ),
    ],
)
def test_parameters_that_the_agent_does_not_have_are_refused(runs, change):
    module = saccade.torch.Agent(runs["grid"], threads=1)
    change(module)
    with pytest.raises(saccade.InputError, match="that is not the agent's memory"):
        module(torch.from_numpy(images()))
