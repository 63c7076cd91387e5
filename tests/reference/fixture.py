"""What every fixture is made with: numbers that float32 holds exactly, named parameters, and the
file. Inputs are float32 numbers, the computation runs in float64, the results are rounded."""

import json
import pathlib
import struct
import zlib

import torch

FOLDER = pathlib.Path(__file__).parent
torch.set_default_dtype(torch.float64)


class Unclear(Exception):
    """Numbers that show too little, or that another precision might decide otherwise."""


def begin(name, attempt=0):
    """A fixture's random numbers depend on its name alone: another one changes no other file."""
    torch.manual_seed(zlib.crc32(f"{name} {attempt}".encode()))


def write_safetensors(name, tensors, metadata=None):
    """github.com/huggingface/safetensors, float32 only."""
    header, data = {"__metadata__": {k: str(v) for k, v in (metadata or {}).items()}}, b""
    for key, tensor in tensors.items():
        values = tensor.detach().to(torch.float32).contiguous().flatten().tolist()
        start, data = len(data), data + struct.pack(f"<{len(values)}f", *values)
        header[key] = {"dtype": "F32", "shape": list(tensor.shape),
                       "data_offsets": [start, len(data)]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (FOLDER / f"{name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def real(tensor):
    """In the precision of the computation."""
    return tensor.to(torch.get_default_dtype())


def normal(*shape, scale=1.0):
    return real((scale * torch.randn(*shape, dtype=torch.float64)).to(torch.float32))


def uniform(*shape):
    """In [0, 1), like pixels."""
    return real(torch.rand(*shape, dtype=torch.float64).to(torch.float32))


def pixels(*shape):
    """Of bytes, in [0, 1]."""
    return real(torch.randint(256, shape)) / 255


def parameters(shapes, scale=0.5):
    return {name: normal(*shape, scale=scale).requires_grad_() for name, shape in shapes.items()}


def named(prefix, tensors):
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def gradients(tensors):
    """All in one tensor, in the order of the parameters; zeros where one was not reached."""
    return {"gradient": torch.cat([torch.zeros_like(t).flatten() if t.grad is None
                                   else t.grad.flatten() for t in tensors.values()])}
