"""Glimpse environments for Gymnasium.

`gymnasium.make("saccade/Cluttered60-v0", data="mnist")` makes a GlimpseEnv, and
`gymnasium.make_vec("saccade/Cluttered60-v0", num_envs=256, data="mnist")` makes a GlimpseVectorEnv.
"""

from .families import FAMILIES, register_families
from .single import GlimpseEnv
from .vector import GlimpseVectorEnv

__all__ = ["FAMILIES", "GlimpseEnv", "GlimpseVectorEnv"]

register_families()
