"""Recurrent visual attention: environments, training, agents, comparisons and videos."""

from . import data, envs, scenes, sinks, worlds
from ._ffmpeg import choose_encoder
from ._saccade import InputError
from ._saccade import version as __version__
from ._settings import presets, trained_agents
from ._training import Training
from .agents import Agent, load
from .comparisons import Comparison, compare
from .recordings import Recording, record
from .rollouts import Rollout, Trace
from .runs import Metrics, Run, Study
from .steps import Look, State
from .trainings import evaluate, study, train

choose_encoder()

__all__ = [
    "Agent",
    "Comparison",
    "InputError",
    "Look",
    "Metrics",
    "Recording",
    "Rollout",
    "Run",
    "State",
    "Study",
    "Trace",
    "Training",
    "__version__",
    "compare",
    "data",
    "envs",
    "evaluate",
    "load",
    "presets",
    "record",
    "scenes",
    "sinks",
    "study",
    "train",
    "trained_agents",
    "worlds",
]
