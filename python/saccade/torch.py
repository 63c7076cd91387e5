"""The retina and trained agents in PyTorch. Needs the package torch.

`look` is the look of `attention.glimpse.kind: soft_point`: it reads between pixels, so that the
glimpse changes smoothly with the location and a network learns where to look by backpropagation.
`Agent` is a trained agent as a module of a larger model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from . import _saccade, agents
from ._arguments import as_integer
from ._arrays import as_array, as_images
from ._saccade import InputError
from .agents import load
from .rollouts import Trace
from .steps import SamplingMode

__all__ = ["Agent", "Canvases", "look"]


class Canvases:
    """N canvases, prepared once for any number of looks.

    Args:
        canvases: an array or tensor (N, rows, cols), (N, rows, cols, 1 or 3) or (N, 1 or 3, rows,
            cols) of bytes, or of floats in [0, 1], which are rounded to bytes. Bytes that are
            contiguous and have their channels last are read where they are; looks read a copy with a
            margin of black. Gradients of a tensor of floats that requires them are those at the
            rounded pixels, in which a look is linear.
        patch_size, scales, scale_factor: the retina, as the settings of these names.
        threads: the number of threads; 0 for all processors. The results do not depend on it.
    """

    def __init__(
        self,
        canvases: Any,
        *,
        patch_size: int = 12,
        scales: int = 3,
        scale_factor: int = 2,
        threads: int = 0,
    ) -> None:
        pixels = as_images("canvases", canvases)
        self._count, _, _, channels = pixels.shape
        learned = isinstance(canvases, torch.Tensor) and canvases.requires_grad
        self._tensor: torch.Tensor | None = canvases if learned else None
        self.glimpse_shape = (
            as_integer("scales", scales, 1, 6),
            channels,
            *[as_integer("patch_size", patch_size, 1, 512)] * 2,
        )
        self._looks = _saccade.Looks(
            pixels,
            patch_size,
            scales,
            as_integer("scale_factor", scale_factor, 1, 8),
            as_integer("threads", threads, 0, 1024),
        )

    def __len__(self) -> int:
        return self._count

    @property
    def glimpse_size(self) -> int:
        """D, the numbers of a glimpse."""
        return math.prod(self.glimpse_shape)


class _Look(torch.autograd.Function):
    """Slopes are kept from the forward pass; the backward pass is the chain rule. `pixels` is an
    argument so that autograd asks for its gradient."""

    @staticmethod
    def forward(
        ctx: Any, locations: torch.Tensor, pixels: torch.Tensor | None, canvases: Canvases
    ) -> torch.Tensor:
        places = as_array(
            "locations", locations, "float32", (len(canvases), 2), low=-1.0, high=1.0
        )
        glimpses, slopes = canvases._looks.look(places)
        ctx.save_for_backward(_like(locations, slopes))
        ctx.looks = canvases._looks
        if pixels is not None:
            ctx.places, ctx.shape, ctx.pixels = places.copy(), pixels.shape, pixels.new_empty(0)
        return _like(locations, glimpses)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *dglimpses: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (slopes,) = ctx.saved_tensors
        dlocations = dpixels = None
        if ctx.needs_input_grad[0]:
            dlocations = torch.einsum("nld,nd->nl", slopes, dglimpses[0])
        if ctx.needs_input_grad[1]:
            by_glimpse = dglimpses[0].detach().to("cpu", torch.float32).contiguous()
            by_pixel = ctx.looks.backward(ctx.places, by_glimpse.numpy())
            dpixels = _like(ctx.pixels, _as_given(by_pixel, ctx.shape))
        return dlocations, dpixels, None


def look(canvases: Canvases, locations: torch.Tensor) -> torch.Tensor:
    """Glimpses (N, D) of the canvases at locations (N, 2), (x, y) in [-1, 1], with (0, 0) the centre,
    x to the right and y down. D is scale, channel, row, col: `canvases.glimpse_shape`. Gradients
    reach the locations, and the canvases if they were made of a tensor that requires them. Float32
    on the processor is not copied.
    """
    if not isinstance(canvases, Canvases):
        raise InputError(f"canvases: {type(canvases).__name__}; allowed: saccade.torch.Canvases")
    if not isinstance(locations, torch.Tensor):
        raise InputError(f"locations: {type(locations).__name__}; allowed: a tensor (N, 2)")
    glimpses: torch.Tensor = _Look.apply(locations, canvases._tensor, canvases)
    return glimpses


class _Play(torch.autograd.Function):
    """The weights are arguments so that autograd asks for their gradients."""

    @staticmethod
    def forward(
        ctx: Any, images: torch.Tensor, trace: Trace, names: list[str], *weights: torch.Tensor
    ) -> torch.Tensor:
        ctx.trace, ctx.names, ctx.shape, ctx.images = trace, names, images.shape, images.new_empty(0)
        return _like(weights[0], trace.logits)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *dlogits: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        by_weight, by_image = ctx.trace.gradients(dlogits[0].contiguous())
        dimages = None
        if ctx.needs_input_grad[0]:
            dimages = _like(ctx.images, _as_given(by_image, ctx.shape))
        return (dimages, None, None, *(_like(dlogits[0], by_weight[name]) for name in ctx.names))


class Agent(torch.nn.Module):
    """A trained agent: images to the logits of its answers.

    Its parameters have the names of `saccade.Agent.parameters` and are its memory: what an optimiser
    changes, `agent` has, so that `agent.save` and `agent.rollout` follow. A copy has an agent of its
    own. Gradients reach the weights and the images, as far as `saccade.Trace` says: where a hard
    agent looks is held constant. On the processor, in float32: forward() raises InputError for
    parameters that are not the agent's memory any more, as after .double() or .to(device).

    Args:
        agent: a saccade.Agent, or what saccade.load takes.
        threads: the number of threads of an agent that is loaded; 0 for all processors.
    """

    def __init__(self, agent: Any, *, threads: int = 0) -> None:
        super().__init__()
        self.agent = agent if isinstance(agent, agents.Agent) else load(agent, threads=threads)
        self._names = list(self.agent.parameters)
        self._place_all({})

    def _place_all(self, learns: Mapping[str, bool]) -> None:
        for name, values in self.agent.parameters.items():
            weights = torch.nn.Parameter(torch.from_numpy(values), learns.get(name, True))
            self._place(name, weights)

    # A copy of the parameters would not be the memory of the copied agent.

    def __getstate__(self) -> dict[str, Any]:
        learns = {name: each.requires_grad for name, each in self.named_parameters()}
        return {"agent": self.agent, "training": self.training, "learns": learns}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["agent"])  # type: ignore[misc]
        self._place_all(state["learns"])
        self.train(state["training"])

    def _place(self, name: str, parameter: torch.nn.Parameter) -> None:
        *path, last = name.split(".")
        module: torch.nn.Module = self
        for part in path:
            if not hasattr(module, part):
                module.add_module(part, torch.nn.Module())
            module = getattr(module, part)
        module.register_parameter(last, parameter)

    def forward(
        self,
        images: torch.Tensor,
        *,
        readout: SamplingMode = "deterministic",
        seed: int | None = None,
        sample: int = 0,
    ) -> torch.Tensor:
        """Logits (N, S, C): after each look, or of each symbol; [:, -1] is the answer of an agent
        that classifies.

        images: as for `saccade.Agent.rollout`; floats in [0, 1] are rounded to bytes, and the
            gradient is that at the rounded ones. readout, seed, sample: as there.
        """
        if not isinstance(images, torch.Tensor):
            raise InputError(f"images: {type(images).__name__}; allowed: a tensor (N, ...)")
        weights = self._weights()
        trace = self.agent.trace(images.detach(), readout=readout, seed=seed, sample=sample)
        logits: torch.Tensor = _Play.apply(images, trace, self._names, *weights)
        return logits

    def _weights(self) -> list[torch.nn.Parameter]:
        """The parameters, which must be the agent's memory, in the order of its names."""
        weights = []
        for name, values in self.agent.parameters.items():
            one = self.get_parameter(name)
            if one.data_ptr() != values.ctypes.data:
                raise InputError(
                    f"{name}: a tensor of {one.dtype} on {one.device} that is not the agent's memory; "
                    "allowed: the parameters as they were made, changed in place"
                )
            weights.append(one)
        return weights


def _as_given(array: Any, shape: torch.Size) -> Any:
    """(N, channels, rows, cols) in the order of the axes of the images."""
    if len(shape) == 4 and tuple(shape) != array.shape:
        return array.transpose(0, 2, 3, 1).reshape(shape)
    return array.reshape(shape)


def _like(tensor: torch.Tensor, array: Any) -> torch.Tensor:
    return torch.from_numpy(array).to(device=tensor.device, dtype=tensor.dtype)
