"""Videos of where agents look."""

from __future__ import annotations

import base64
import os
import pathlib
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _saccade
from ._arguments import as_flag, as_integer, as_number, as_seed
from ._own_parts import OwnParts, own_or_number
from ._saccade import InputError
from .agents import Agent, load
from .scenes import Scenes

AnyAgent = str | os.PathLike[str]  # an Agent is path-like


def record(
    agents: AnyAgent | Sequence[AnyAgent],
    images: Any = None,
    *,
    labels: Any = None,
    scenes: int | Scenes | None = None,
    episodes: int | None = None,
    valid_scenes: Any = None,
    test_scenes: Any = None,
    names: Sequence[str] | None = None,
    seed: int | None = None,
    fps: float = 3.0,
    stop: float | None = None,
    threads: int = 0,
) -> Recording:
    """Records where agents look, side by side, in the single deterministic pass of an evaluation.
    Nothing is drawn until the recording is shown or saved.

    agents: one or several Agents, Runs, folders, checkpoints or names, as for `load`.
    images, labels: as for Agent.rollout; by default scenes of the test.
    scenes: the number of scenes, by default 4; or your own scenes, as for `train`: as the agents
        were trained on, or other ones that their networks can look at.
    episodes: the number of scenes if they are your own, by default 4.
    valid_scenes, test_scenes: as for `train`. Test scenes are recorded.
    names: one per agent; by default the names of the folders.
    seed: the seed of the scenes; by default evaluation.seed.
    fps: glimpses per second.
    stop: each agent stops looking once its highest class probability is above this.
    threads: the number of threads; 0 for all processors. Each agent is played and drawn by one. The
        results do not depend on it.
    """
    given = [agents] if isinstance(agents, (str, os.PathLike)) else list(agents)
    if not given or not all(isinstance(one, (str, os.PathLike)) for one in given):
        raise InputError(f"agents: {agents!r}; allowed: one or more agents, as for saccade.load")
    workers = as_integer("threads", threads, 0, 1024)
    players = [one if isinstance(one, Agent) else load(one, threads=workers) for one in given]
    if names is None:
        names = [pathlib.Path(agent.path).name for agent in players]
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError(f"names: {names!r}; allowed: texts, one for each agent")
    if len(names) != len(players):
        raise InputError(f"names: {len(names)} for {len(players)} agents")
    if labels is not None and images is None:
        raise InputError("labels: given without images")
    shown, count = own_or_number(scenes, episodes, 4, images)
    own = OwnParts(shown, valid_scenes, test_scenes, images=images)
    pixels, classes = (None, None) if images is None else players[0]._labelled(images, labels)
    if pixels is not None:
        count = len(pixels)
    drawn = None if seed is None else as_seed(seed)
    until = None if stop is None else as_number("stop", stop)
    return Recording(
        players, list(names), pixels, classes, count, drawn, as_number("fps", fps), until, workers, own
    )


class Recording:
    """The result of `record`. `save` writes it; a notebook shows it as a video."""

    def __init__(
        self,
        agents: list[Agent],
        names: list[str],
        images: np.ndarray | None,
        labels: np.ndarray | None,
        scenes: int,
        seed: int | None,
        fps: float,
        stop: float | None,
        threads: int,
        own: OwnParts,
    ) -> None:
        self._agents, self._names = agents, names
        self._images, self._labels = images, labels
        self._scenes, self._seed, self._fps, self._stop = scenes, seed, fps, stop
        self._threads, self._own = threads, own

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> pathlib.Path:
        """Writes a video (.gif; .mp4 if there is an H.264 encoder) or a contact sheet of scenes x
        glimpses (.png), and returns its path. An existing file is an error unless `force`."""
        with self._own.used("the recording was stopped"):
            _saccade.record(
                [agent._agent for agent in self._agents],
                self._names,
                os.fspath(path),
                self._images,
                self._labels,
                self._scenes,
                self._seed,
                self._fps,
                as_flag("force", force),
                self._stop,
                self._threads,
                self._own.overrides(),
                self._own,
            )
        return pathlib.Path(path)

    def gif(self) -> bytes:
        """The bytes of the .gif."""
        with tempfile.TemporaryDirectory() as folder:
            return self.save(pathlib.Path(folder) / "looks.gif").read_bytes()

    def _repr_html_(self) -> str:
        return f'<img src="data:image/gif;base64,{base64.b64encode(self.gif()).decode()}">'

    def __repr__(self) -> str:
        return f"Recording({len(self._agents)} agents, {self._scenes} scenes)"
