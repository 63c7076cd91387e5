"""Trained agents: rollouts, saliency, weights and export."""

from __future__ import annotations

import contextlib
import copy
import os
import pathlib
import tempfile
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, get_args

import numpy as np

from . import _saccade
from ._arguments import MAX_SCENES, as_choice, as_flag, as_integer, as_path, as_seed
from ._arrays import FloatArray, as_array, as_plain
from ._html import table
from ._labelled import labelled
from ._own_parts import OwnParts, own_or_number
from ._saccade import InputError
from .rollouts import Rollout, Trace
from .scenes import Scenes
from .steps import Look, Played, SamplingMode, State, Taken

_SHOWN = 10  # classes in a notebook


def load(path: str | os.PathLike[str], *, threads: int = 0) -> Agent:
    """Loads a trained agent: from a Run or its folder (the averaged weights of its best checkpoint,
    as in evaluations), a checkpoint file (see `Agent.save`), another Agent, or the name of an agent
    that comes with the package (see `trained_agents`).

    The agent's training data must be present, because they name its classes. `threads`: the number
    of threads; 0 for every processor that this process may use.
    """
    return Agent(path, threads=threads)


class Agent:
    """A trained agent. See `load`."""

    def __init__(self, path: str | os.PathLike[str], *, threads: int = 0) -> None:
        self.path = as_path("path", path)
        self._threads = as_integer("threads", threads, 0, 1024)
        self._agent = _saccade.Agent(self.path, self._threads)
        self._facts: dict[str, Any] = self._agent.facts
        self._elsewhere = False  # whether no file has its weights

    @classmethod
    def _copied(cls, path: str, save: Callable[[pathlib.Path], object], threads: int) -> Agent:
        """The agent whose checkpoint `save` writes, which is not that of `path`."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "agent.safetensors"
            save(file)
            agent = cls(file, threads=threads)
        agent.path, agent._elsewhere = path, True
        return agent

    def __fspath__(self) -> str:
        """The path that it was loaded from, so that an Agent can replace a run folder. Raises
        InputError if its weights were changed; use `save` first."""
        if self._edited:
            raise InputError(
                f"{self.path}: the agent's weights were changed; save(path) them and use that path"
            )
        return self.path

    @property
    def _edited(self) -> bool:
        return self._elsewhere or self._agent.edited

    # Copies have the current weights.

    def __getstate__(self) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "agent.safetensors"
            self._agent.save(str(file), False)
            return {
                "path": self.path,
                "threads": self._threads,
                "edited": self._edited,
                "checkpoint": file.read_bytes(),
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path, self._threads = state["path"], state["threads"]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "agent.safetensors"
            file.write_bytes(state["checkpoint"])
            self._agent = _saccade.Agent(str(file), self._threads)
        self._facts = self._agent.facts
        self._elsewhere = state["edited"]

    def _repr_html_(self) -> str:
        rows, cols, channels = self.canvas
        classes = self.class_names
        names = ", ".join(classes[:_SHOWN]) + (", ..." if len(classes) > _SHOWN else "")
        weights = sum(array.size for array in self.parameters.values())
        return table(
            (),
            [
                ("agent", self.path),
                ("glimpses", f"{self.num_glimpses} of {rows} x {cols} pixels, {channels} channels"),
                (f"{len(classes)} answers", names),
                ("weights", f"{weights:,}{' (changed)' if self._edited else ''}"),
            ],
        )

    def __repr__(self) -> str:
        rows, cols, _ = self.canvas
        return f"Agent({self.path!r}: {self.num_glimpses} glimpses of {rows} x {cols} pixels)"

    @property
    def num_glimpses(self) -> int:
        """T, the number of glimpses in an episode."""
        return self._facts["num_glimpses"]

    @property
    def class_names(self) -> list[str]:
        """The names of the C classes, symbols or actions."""
        return self._facts["class_names"]

    @property
    def canvas(self) -> tuple[int, int, int]:
        """(rows, cols, channels) of the canvas."""
        return self._facts["canvas"]

    @property
    def config_yaml(self) -> str:
        """Every setting of its run, as in config.yaml."""
        return self._agent.config_yaml

    @property
    def parameters(self) -> Mapping[str, FloatArray]:
        """The weights by name, (rows, cols) each. The arrays share the agent's memory: the agent
        uses what you write into them. `torch.from_dlpack` accepts them without a copy. The mapping
        itself is read-only; use `set_parameters` to assign arrays."""
        return types.MappingProxyType(self._agent.parameters)

    def set_parameters(self, weights: Mapping[str, Any]) -> None:
        """Replaces the named weights, finite numbers (rows, cols). `save` writes them to a file."""
        if not isinstance(weights, Mapping):
            raise InputError(f"weights: {type(weights).__name__}; allowed: a dictionary of arrays")
        there = self.parameters
        taken = {}
        for name, values in weights.items():
            if name not in there:
                raise InputError(f"weights: unknown name {name!r}; allowed: {', '.join(there)}")
            taken[name] = as_array(f"weights['{name}']", values, np.float32, there[name].shape)
        for name, array in taken.items():
            there[name][...] = array

    def with_parameters(self, weights: Mapping[str, Any]) -> Agent:
        """A copy of the agent with these weights; this one is unchanged. See `set_parameters`."""
        other = copy.deepcopy(self)
        other.set_parameters(weights)
        return other

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> pathlib.Path:
        """Writes the current weights and the configuration to a .safetensors file and returns its
        path. `load`, the setting `init_from` (to continue training), and every function that only
        needs the agent of a run accept the file. An existing file is an error unless `force`."""
        file = pathlib.Path(as_path("path", path))
        if file.suffix != ".safetensors":
            raise InputError(f"path: {file}; allowed: a file name ending in .safetensors")
        self._agent.save(str(file), as_flag("force", force))
        return file

    def export(
        self,
        *,
        npz: str | os.PathLike[str] | None = None,
        onnx: str | os.PathLike[str] | None = None,
        agent: str | os.PathLike[str] | None = None,
        web: str | os.PathLike[str] | None = None,
        unrolled: bool = False,
        half: bool = False,
        single: bool = False,
        force: bool = False,
    ) -> list[pathlib.Path]:
        """Writes the agent for other programs, as `saccade export` does, and returns the paths.

        npz: a file with one array per parameter.
        onnx: a file with one step, from a glimpse and the state to the answer and the next
            location.
        unrolled: the ONNX file has whole episodes instead, from the canvas to the answer.
        agent: a new folder with the configuration, figures and weights of the agent's finished run;
            not available if the weights were changed.
        half: that folder has its weights in half precision, half the size.
        web: a new folder with a web page on which to play with the agent; needs the web module, which
            the package has if it was built after `make web`.
        single: the page is one new .html file instead, which needs no server.
        force: overwrite existing files, but for the page.
        """
        if single and web is None:
            raise InputError("single: has no effect without web")
        if half and agent is None:
            raise InputError("half: has no effect without agent")
        if unrolled and onnx is None:
            raise InputError("unrolled: has no effect without onnx")
        if agent is not None and self._edited:
            raise InputError(
                "agent: the weights were changed, so the figures of the run do not apply; "
                "allowed: npz, onnx, save(path)"
            )
        targets = [None if each is None else pathlib.Path(each) for each in (npz, onnx, agent)]
        page = None if web is None else pathlib.Path(web)
        with self._file() as file:
            if page is not None:
                own = pathlib.Path(file if self._edited else self.path)
                _saccade.export_web(own, page, as_flag("single", single))
            if page is None or any(targets):
                _saccade.export_agent(
                    folder=pathlib.Path(file if agent is None else self.path),
                    npz=targets[0],
                    onnx=targets[1],
                    agent=targets[2],
                    unrolled=as_flag("unrolled", unrolled),
                    half=as_flag("half", half),
                    force=as_flag("force", force),
                )
        return [target for target in (*targets, page) if target is not None]

    @contextlib.contextmanager
    def _file(self) -> Iterator[str]:
        """A temporary checkpoint of the current weights."""
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "agent.safetensors")
            self._agent.save(file, False)
            yield file

    def rollout(
        self,
        images: Any = None,
        *,
        labels: Any = None,
        scenes: int | Scenes | None = None,
        episodes: int | None = None,
        valid_scenes: Any = None,
        test_scenes: Any = None,
        world: Callable[[int], Any] | None = None,
        split: Literal["train", "valid", "test"] = "test",
        readout: SamplingMode = "deterministic",
        seed: int | None = None,
        sample: int = 0,
        beam: int = 1,
        canvases: bool = False,
    ) -> Rollout:
        """Runs episodes on images, on the first scenes of an evaluation, or on scenes or in a world
        of your own.

        images, labels: images of the size of the canvas, with or without labels (classes or their
            names), as for saccade.train.
        scenes: the number of scenes, by default that of the run's own evaluation; or your own
            scenes, as for `train`: as the agent was trained on, or other ones that its network can
            look at.
        episodes: the number of scenes if they are your own, or in a world; by default likewise.
        valid_scenes, test_scenes, world: as for `train`, likewise.
        split: the part of the data, or of your own scenes, that is shown; not with images.
        readout: the sampling mode. `deterministic` takes the mean or the most probable location,
            and for soft kinds the expectation; `sampled` samples; `argmax` takes the most probable
            location, also for soft kinds.
        seed, sample: the random stream and the index of the sample; seed is evaluation.seed by
            default.
        beam: the beam size of a decoder.
        canvases: whether to return the canvases of the scenes; not with images.
        """
        as_choice("readout", readout, get_args(SamplingMode))
        seed = self._seed(seed)
        sample = as_integer("sample", sample, 0, 2**31 - 1)
        beam = as_integer("beam", beam, 1, 100)
        if beam > 1 and not self._facts["spells"]:
            raise InputError(f"beam: {beam}, but this agent has no decoder; allowed: 1")
        canvases = as_flag("canvases", canvases)
        own_scenes, count = own_or_number(scenes, episodes, self._facts["scenes"], images)
        own = OwnParts(own_scenes, valid_scenes, test_scenes, world, images=images)
        if images is None:
            if labels is not None:
                raise InputError("labels: given without images")
            as_choice("split", split, ("train", "valid", "test"))
            with own.used("the rollout was stopped"):
                played = self._agent.play_scenes(
                    count,
                    split,
                    readout,
                    seed,
                    sample,
                    beam,
                    canvases,
                    own.overrides(),
                    own,
                )
            if own.blocks is not None:  # as many boxes as the scene of most has
                boxes = played["boxes"]
                played["boxes"] = boxes[:, : (boxes[..., 2] > 0).sum(1).max()].copy()
            return self._rollout(played, known=True)
        for name, given in (("split", split != "test"), ("canvases", canvases)):
            if given:
                raise InputError(f"{name}: has no effect with images")
        pixels, classes = self._labelled(images, labels)
        known = classes is not None
        played = self._agent.play_canvases(pixels, classes, readout, seed, sample, beam)
        return self._rollout(played, known=known)

    def start(
        self,
        images: Any = None,
        *,
        size: int | None = None,
        readout: SamplingMode = "deterministic",
        seed: int | None = None,
    ) -> State:
        """The state before the first glimpse: of images as in `rollout`, or of `size` episodes
        whose glimpses the caller provides, for example from an environment. readout, seed: as
        there."""
        if (images is None) == (size is None):
            raise InputError("start: needs either images or size")
        as_choice("readout", readout, get_args(SamplingMode))
        if images is not None:
            pixels = self._canvases(images)
            return State(len(pixels), images=pixels, readout=readout, seed=self._seed(seed))
        if not self._facts["handed"]:
            raise InputError(
                "size: this agent sees more than one glimpse per step (many places, a window, or "
                "the canvas through model.context); use start(images)"
            )
        episodes = as_integer("size", size, 1, MAX_SCENES)
        return State(episodes, readout=readout, seed=self._seed(seed))

    def step(self, state: State, locations: Any = None, glimpses: Any = None) -> Look:
        """Takes the next glimpse and advances `state`.

        locations: (N, 2) in [-1, 1], with a zoom (N, 3); by default the agent's own choice. Only
            for agents that look at points.
        glimpses: (N, scales, channels, patch, patch) or (N, D), numbers in [0, 1]; of a world of your
            own (N, ...), any numbers. A state without images needs locations and glimpses.

        Each look is taken once. A state is nothing but its history: when it is stepped by another
        agent, or after weights were changed, the looks before are taken again.
        """
        if state.step >= self.num_glimpses:
            raise InputError(f"step: the episode has ended after {self.num_glimpses} glimpses")
        if locations is not None:
            if not self._facts["points"]:
                raise InputError("locations: this agent looks at many places at once; allowed: None")
            locations = self._locations(locations, state.size)
        if state.images is None:
            if glimpses is None or locations is None:
                raise InputError("step: a state without images needs locations and glimpses")
            glimpses = self._handed(glimpses, state.size)
        elif glimpses is not None:
            raise InputError("glimpses: the state has images; allowed: None")
        if state._played is None or not state._played.belongs_to(self._agent):
            state._played = self._play(state)
        taken = Taken(locations, glimpses)
        seen = state._played.take(state._taken, taken)
        if self._facts["points"]:
            taken.locations = seen["locations"].copy()
        state._taken.append(taken)
        state.step += 1
        probabilities = seen["probabilities"]
        return Look(
            locations=seen["locations"],
            glimpses=self._pictures(seen["glimpses"]) if "glimpses" in seen else None,
            probabilities=probabilities if self._facts["spells"] else probabilities[:, 0],
            next_locations=seen.get("next_locations"),
        )

    def _play(self, state: State) -> Played:
        if state.images is None:
            steps = self._agent.step_glimpses(state.size, state.readout, state.seed)
        else:
            steps = self._agent.step_canvases(state.images, state.readout, state.seed)
        return Played(self._agent, steps)

    def _handed(self, glimpses: Any, count: int) -> np.ndarray:
        """(N, D)."""
        seen = as_plain("glimpses", glimpses)
        low, high = (0.0, 1.0) if self._facts["pictures"] else (None, None)
        if seen.ndim > 2 and (low is None or seen.shape[1:] == self._picture_shape):
            seen = seen.reshape(len(seen), -1)
        shape = (count, self._facts["glimpse_size"])
        return np.array(as_array("glimpses", seen, np.float32, shape, low=low, high=high), order="C")

    def saliency(
        self, images: Any = None, *, scenes: int | None = None, step: int | None = None
    ) -> dict[str, np.ndarray]:
        """Gradient saliency: the sequential Jacobian (Graves 2012) of O logits with respect to the
        input.

        images: as in `rollout`; by default test scenes.
        scenes: their number, by default 8; not with images.
        step: the answer after this glimpse, or this symbol, counted from 1; by default the last
            answer, or every symbol.

        Returns canvas_jacobian (N, O, channels, rows, cols), glimpse_jacobian (N, O, T, D) if the
        agent takes single glimpses, feature_jacobian (N, O, T, F), logits (N, O), and chosen (N,
        O), the class of each logit.
        """
        step = None if step is None else as_integer("step", step, 1, 1000)
        if images is None:
            arrays = self._agent.saliency_of_scenes(_scenes(8 if scenes is None else scenes), step)
        elif scenes is not None:
            raise InputError("scenes: has no effect with images")
        else:
            arrays = self._agent.saliency_of_canvases(self._canvases(images), step)
        rows, cols, channels = self.canvas
        canvas = arrays["canvas_jacobian"]
        arrays["canvas_jacobian"] = canvas.reshape(*canvas.shape[:2], channels, rows, cols)
        return arrays

    def trace(
        self,
        images: Any,
        *,
        readout: SamplingMode = "deterministic",
        seed: int | None = None,
        sample: int = 0,
    ) -> Trace:
        """Plays episodes on images, as `rollout` does, and keeps what their derivatives need: see
        `Trace`. Not for agents that act, nor for retina.pooling: max."""
        images = self._canvases(images)
        played = self._agent.trace(
            images, readout, self._seed(seed), as_integer("sample", sample, 0, 2**31 - 1)
        )
        return Trace(played)

    def gradients(
        self, *, scenes: int = 64, samples: int = 128, rollouts: int = 4
    ) -> dict[str, Any]:
        """The noise of the locator's REINFORCE gradient under each advantage estimator, as in
        `saccade gradients`. Only for agents that are trained with REINFORCE.

        scenes: test scenes.
        samples: samples of the policy's noise.
        rollouts: episodes per scene.
        """
        figures: dict[str, Any] = self._agent.gradients(
            as_integer("scenes", scenes, 1, 4096),
            as_integer("samples", samples, 3, 100_000),
            as_integer("rollouts", rollouts, 2, 256),
        )
        return figures

    def _seed(self, seed: int | None) -> int:
        return self._facts["seed"] if seed is None else as_seed(seed)

    def _canvases(self, images: Any) -> np.ndarray:
        """(N, channels, rows, cols), bytes."""
        return self._labelled(images, None)[0]

    def _labelled(self, images: Any, labels: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """The same, and the classes (N) or None."""
        if labels is not None and self._facts["spells"]:
            raise InputError("labels: this agent answers with sequences; allowed: None")
        pixels, classes, _ = labelled(images, labels, self.class_names)
        if self._facts["spells"]:
            classes = None
        # A copy: what was given may change while states and recordings still look at it.
        return np.array(pixels.transpose(0, 3, 1, 2), order="C"), classes

    def _locations(self, locations: Any, size: int) -> np.ndarray:
        shape = (size, self._facts["location_size"])
        places = as_array("locations", locations, np.float32, shape, low=-1.0, high=1.0)
        return np.array(places, order="C")

    def _pictures(self, glimpses: np.ndarray) -> np.ndarray:
        """(..., scales, channels, patch, patch) of (..., D)."""
        return glimpses.reshape(*glimpses.shape[:-1], *self._picture_shape)

    @property
    def _picture_shape(self) -> tuple[int, int, int, int]:
        side = self._facts["picture_side"]
        return (self._facts["pictures"], self.canvas[2], side, side)

    def _rollout(self, arrays: dict[str, np.ndarray], *, known: bool) -> Rollout:
        if "glimpses" in arrays:
            arrays["glimpses"] = self._pictures(arrays["glimpses"])
        if not known:
            for name in ("labels", "errors"):
                arrays.pop(name, None)
        return Rollout(arrays, self.class_names)


def _scenes(count: int) -> int:
    return as_integer("scenes", count, 1, MAX_SCENES)
