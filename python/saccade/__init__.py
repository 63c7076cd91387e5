"""Recurrent visual attention, hard and soft: trained agents, their looks, and films of both."""

from . import envs
from ._saccade import InputError
from .agents import Agent, Look, Rollout, State, load
from .recordings import Recording, record

__all__ = ["Agent", "InputError", "Look", "Recording", "Rollout", "State", "envs", "load", "record"]
