"""The retina in PyTorch. Needs the package torch.

`look` is the look of `attention.glimpse.kind: soft_point`: it reads between pixels, so that the
glimpse changes smoothly with the location and a network learns where to look by backpropagation.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from . import _saccade
from ._arguments import as_integer
from ._arrays import as_array, as_images
from ._saccade import InputError

__all__ = ["Canvases", "look"]


class Canvases:
    """N canvases, prepared once for any number of looks.

    Args:
        canvases: an array or tensor (N, rows, cols), (N, rows, cols, 1 or 3) or (N, 1 or 3, rows,
            cols) of bytes, which are copied once, or of floats in [0, 1], which are rounded to bytes.
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
    """Slopes are kept from the forward pass; the backward pass is the chain rule."""

    @staticmethod
    def forward(ctx: Any, locations: torch.Tensor, canvases: Canvases) -> torch.Tensor:
        places = as_array(
            "locations", locations, "float32", (len(canvases), 2), low=-1.0, high=1.0
        )
        glimpses, slopes = canvases._looks.look(places)
        ctx.save_for_backward(_like(locations, slopes))
        return _like(locations, glimpses)

    @staticmethod
    def backward(ctx: Any, *dglimpses: torch.Tensor) -> tuple[torch.Tensor, None]:
        (slopes,) = ctx.saved_tensors
        return torch.einsum("nld,nd->nl", slopes, dglimpses[0]), None


def look(canvases: Canvases, locations: torch.Tensor) -> torch.Tensor:
    """Glimpses (N, D) of the canvases at locations (N, 2), (x, y) in [-1, 1], with (0, 0) the centre,
    x to the right and y down. D is scale, channel, row, col: `canvases.glimpse_shape`. Gradients
    reach the locations. Float32 on the processor is not copied.
    """
    if not isinstance(canvases, Canvases):
        raise InputError(f"canvases: {type(canvases).__name__}; allowed: saccade.torch.Canvases")
    if not isinstance(locations, torch.Tensor):
        raise InputError(f"locations: {type(locations).__name__}; allowed: a tensor (N, 2)")
    glimpses: torch.Tensor = _Look.apply(locations, canvases)
    return glimpses


def _like(tensor: torch.Tensor, array: Any) -> torch.Tensor:
    return torch.from_numpy(array).to(device=tensor.device, dtype=tensor.dtype)
