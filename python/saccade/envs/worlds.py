"""The common part of the single and the vector environment: arguments, spaces, calls to C++."""

from __future__ import annotations

import copy
import inspect
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from .. import _saccade
from .._arguments import as_choice, as_flag, as_integer, as_number
from .._arrays import as_array
from .._labelled import labelled
from .._saccade import InputError
from .actions import KINDS, PLACES, DiscreteActions, sides
from .families import FAMILIES, NUM_GLIMPSES, ZOOM, find_family
from .settings import setting_keys, settings_of

Array: TypeAlias = npt.NDArray[Any]
Observation: TypeAlias = "dict[str, Array] | Array"
Info: TypeAlias = "dict[str, Any]"

_ROUNDING = 1e-5  # an action this far outside [-1, 1] is clipped
_SIZES = (  # what a change of settings must leave as it is
    "glimpse_shape",
    "num_glimpses",
    "location_size",
    "answer_kind",
    "answer_size",
    "class_names",
)


class Worlds:
    """N environments as arrays: spaces, observations, actions and steps.

    The arguments are those of `called`, the single or the vector environment. Observations are new
    arrays for all N environments: `glimpse` (N, scales, channels, patch, patch), `location` (N, L)
    and `step` (N), or flat (N, D + L + 1). L is 2, or 3 with a zoom.
    """

    def __init__(
        self,
        count: int,
        autoreset: _saccade.Autoreset,
        *,
        called: type[Described],
        family: str,
        images: object,
        labels: object,
        class_names: Sequence[str] | None,
        split: str,
        num_glimpses: int | None,
        first: str | None,
        halt: bool,
        look_price: float,
        zoom: Sequence[float] | None,
        actions: str,
        places: Sequence[int],
        flat: bool,
        render_mode: str | None,
        threads: int,
        settings: Mapping[str, object],
    ) -> None:
        chosen = find_family(as_choice("family", family, FAMILIES))
        if render_mode is not None:
            as_choice("render_mode", render_mode, ("rgb_array",))
        base = {"name": family, **chosen.settings}
        if num_glimpses is not None:
            base[NUM_GLIMPSES] = str(as_integer("num_glimpses", num_glimpses, 1, 256))
        if zoom is not None:
            base[ZOOM] = _zoom_yaml(zoom)
        start = as_choice("first", chosen.first if first is None else first, ("random", "center"))
        names = [p for p in inspect.signature(called).parameters if p != "settings"]
        asked = settings_of({}, settings, names, called.__name__)
        self.count = as_integer("num_envs", count, 1, 1_000_000)
        self.halts = as_flag("halt", halt)
        self.flat = as_flag("flat", flat)
        self._arguments: dict[str, Any] = dict(
            settings=settings_of(base, settings, names, called.__name__),
            **_digits(images, labels, class_names, asked),
            split=as_choice("split", split, ("train", "valid", "test")),
            num_envs=self.count,
            random_first=start == "random",
            halt=self.halts,
            look_price=as_number("look_price", look_price),
            autoreset=autoreset,
            flat=self.flat,
            threads=as_integer("threads", threads, 0, 1024),
        )
        self._checksums = _checksums(self._arguments)
        self._native: _saccade.Environments | None = _saccade.Environments(**self._arguments)
        self._warn_of_unused(asked, self._native)
        self._symbols = self._native.answer_size
        self._classes = self._native.num_classes
        self.class_names = self._native.class_names
        self.glimpse_shape: tuple[int, int, int, int] = self._native.glimpse_shape
        self.num_glimpses = self._native.num_glimpses
        self.location_size = self._native.location_size
        self.answer_kind = self._native.answer_kind
        kind = as_choice("actions", actions, KINDS)
        self._discrete: DiscreteActions | None = None
        if kind == "continuous" and sides(places) != PLACES:
            raise InputError(
                f"places: {places!r}, but actions: 'continuous'; allowed: with discrete actions"
            )
        if kind != "continuous":
            self._discrete = DiscreteActions(
                places,
                self.location_size,
                self._symbols,
                self._classes,
                self.halts,
                flat=kind == "flat_discrete",
            )
        self._running = False
        self._seeded = np.zeros(self.count, np.bool_)
        self.observation_space = self._observation_space()
        self.action_space = self._action_space()
        self._parts = {"location", "answer", "halt"} if self.halts else {"location", "answer"}

    # ---- Spaces, of a single environment ----

    def _observation_space(self) -> spaces.Space[Any]:
        shape = self.glimpse_shape
        if not self.flat:
            return spaces.Dict(
                {
                    "glimpse": spaces.Box(0.0, 1.0, shape, np.float32),
                    "location": spaces.Box(-1.0, 1.0, (self.location_size,), np.float32),
                    "step": spaces.Discrete(self.num_glimpses + 1),
                }
            )
        low = np.zeros(int(np.prod(shape)) + self.location_size + 1, np.float32)
        low[-1 - self.location_size : -1] = -1.0
        return spaces.Box(low, np.ones_like(low), dtype=np.float32)

    def _action_space(self) -> spaces.Space[Any]:
        if self._discrete is not None:
            return self._discrete.space()
        if self.flat:
            size = self.location_size + self._symbols * self._classes + self.halts
            return spaces.Box(-1.0, 1.0, (size,), np.float32)
        parts: dict[str, spaces.Space[Any]] = {
            "location": spaces.Box(-1.0, 1.0, (self.location_size,), np.float32),
            "answer": spaces.MultiDiscrete([self._classes] * self._symbols)
            if self.answer_kind == "sequence"
            else spaces.Discrete(self._classes),
        }
        if self.halts:
            parts["halt"] = spaces.Discrete(2)
        return spaces.Dict(parts)

    # ---- Copies, which continue from the same place ----

    def __getstate__(self) -> dict[str, Any]:
        place = None
        if self._native is not None:
            place = self._native.state()
        return {**self.__dict__, "_native": place}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        place = state["_native"]
        if place is not None:
            (first, *later), episodes = place
            self._native = _saccade.Environments(**{**self._arguments, "settings": first})
            for settings in later:
                self._native.change(settings)
            self._native.restore(*episodes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Worlds:
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        state = self.__getstate__()
        arguments = state.pop("_arguments")  # never modified
        twin.__setstate__({**copy.deepcopy(state, memo), "_arguments": arguments})
        return twin

    # ---- States, which a search goes back to ----

    def clone_state(self) -> EnvState:
        settings, place = self.native.state()
        return EnvState(self._identity(settings), place, self._running, self._seeded.copy())

    def restore_state(self, state: EnvState) -> None:
        if not isinstance(state, EnvState):
            raise InputError(f"state: {type(state).__name__}; allowed: what clone_state() returns")
        if state.identity != self._identity(self.native.settings):
            raise InputError(
                "state: of an environment with other arguments; allowed: that of one with the same"
            )
        self.native.restore(*state.place)
        self._running = state.running
        self._seeded = state.seeded.copy()

    def _identity(self, settings: list[list[str]]) -> tuple[object, ...]:
        """settings: more than one after a change."""
        given = self._arguments
        names = ("split", "num_envs", "random_first", "halt", "look_price")
        shown = (str(settings), *(str(given[name]) for name in names))
        return (self._checksums, given["autoreset"].name, *shown)

    # ---- Other settings, for a curriculum ----

    def begin_with(self, settings: object, called: type[Described]) -> None:
        """Goes on with other settings, for a reset of all. Raises InputError, and changes nothing,
        for those with which the spaces would be others."""
        if not isinstance(settings, Mapping):
            raise InputError(f"options 'settings': {settings!r}; allowed: a dictionary of settings")
        arguments, asked = self._with(settings, called)
        native = _saccade.Environments(**arguments)
        self._require_same(native, "options 'settings'", _SIZES)
        native.follow(self.native)
        self._warn_of_unused(asked, native)
        self._arguments, self._native = arguments, native
        self._running = False

    def change(self, name: str, value: object, called: type[Described]) -> None:
        """Gives the episodes that begin from now on another setting. Raises as begin_with."""
        words = f"set_attr('{name}', {value!r})"
        key = self.setting_named(name)
        if key is None:
            nearest = _saccade.nearest_key(name, setting_keys())
            raise InputError(f"{words}: unknown setting; allowed: settings of the scenes; nearest: {nearest}")
        try:
            arguments, asked = self._with({key: value}, called)
            one = _saccade.Environments(**{**arguments, "num_envs": 1, "threads": 1})
        except InputError as error:
            raise InputError(f"{words}: {error}") from error
        self._require_same(one, words, (*_SIZES, "num_boxes", "canvas_size"))
        self._warn_of_unused(asked, one)
        self.native.change(arguments["settings"])
        self._arguments = arguments

    def setting_named(self, name: str) -> str | None:
        """The full key of a setting, if the name is one."""
        found = [key for key in setting_keys() if key == name or key.endswith("." + name)]
        return found[0] if len(found) == 1 else None

    def setting(self, name: str) -> Any:
        """The value of a setting in the episodes that begin from now on."""
        key = self.setting_named(name)
        return next(value for found, value in self.native.items if found == key)

    def _with(
        self, settings: Mapping[str, object], called: type[Described]
    ) -> tuple[dict[str, Any], list[str]]:
        """The arguments with other settings, and these settings."""
        before = dict(text.split("=", 1) for text in self._arguments["settings"])
        names = list(inspect.signature(called).parameters)
        asked = settings_of({}, settings, names, called.__name__)
        if self._arguments["images"] is not None:
            _require_no_data(asked)
        chosen = settings_of(before, settings, names, called.__name__)
        return {**self._arguments, "settings": chosen}, asked

    def _warn_of_unused(self, asked: Sequence[str], native: _saccade.Environments) -> None:
        for text in asked:
            key = text.split("=", 1)[0]
            if key in native.unused:
                warnings.warn(f"{key} has no effect while {native.unused[key]}", stacklevel=4)

    def _require_same(
        self, native: _saccade.Environments, words: str, sizes: Sequence[str]
    ) -> None:
        for name in sizes:
            was, would = getattr(self.native, name), getattr(native, name)
            if was != would:
                raise InputError(
                    f"{words}: {name} would be {would}, not {was}; allowed: settings that "
                    "leave observations and actions as they are"
                )

    # ---- Calls ----

    @property
    def native(self) -> _saccade.Environments:
        if self._native is None:
            raise gym.error.ClosedEnvironmentError(
                "the environment is closed; allowed: only close()"
            )
        return self._native

    def close(self) -> None:
        self._native = None

    def seeds(self, seeds: list[int | None], generator: np.random.Generator) -> Array:
        """The seeds of a reset, of valid ones: -1 continues with an environment's seed; the first
        seed is drawn."""
        drawn = np.full(self.count, -1, np.int64)
        for i, seed in enumerate(seeds):
            if seed is not None:
                drawn[i] = seed
            elif not self._seeded[i]:
                drawn[i] = generator.integers(2**30)
        return drawn

    def reset(self, seeds: Array, mask: Array) -> tuple[Observation, Info]:
        """Starts an episode in the environments of `mask` (N). Returns observations and info of all
        N."""
        seen, facts = self.native.reset(seeds, mask)
        self._seeded |= mask
        self._running = True
        return self._observation(seen), self._info(facts)

    def step(
        self, locations: Array, answers: Array, halts: Array | None
    ) -> tuple[Observation, Info, Array, Array]:
        """Steps all N. Returns observations, info, rewards (N) and whether the episodes ended
        (N)."""
        native = self.native
        if not self._running:
            raise gym.error.ResetNeeded("step() needs a reset() first")
        seen, facts, rewards, terminated = native.step(locations, answers, halts)
        return self._observation(seen), self._info(facts), rewards, terminated

    def final(self, which: Array) -> tuple[Observation, Info]:
        """For same-step autoreset: the final observations and info of the episodes that ended in
        the last step, of the environments in `which`.
        """
        seen, facts = self.native.final_rows(which)
        return self._observation(seen), self._info(facts)

    def canvases(self) -> npt.NDArray[np.uint8]:
        """The canvases of all N as they are now, (N, rows, cols, channels)."""
        native = self.native
        if not self._running:
            raise gym.error.ResetNeeded("canvases() needs a reset() first")
        return native.canvases()

    def render(self, i: int) -> npt.NDArray[np.uint8]:
        """The episode of environment i as `saccade record` draws it, (rows, cols, 3)."""
        native = self.native
        if not self._running:
            raise gym.error.ResetNeeded("render() needs a reset() first")
        return native.render(i)

    def _observation(self, seen: Any) -> Observation:
        if self.flat:
            return seen  # type: ignore[no-any-return]
        return {"glimpse": seen[0], "location": seen[1], "step": _int64(seen[2])}

    def _info(self, facts: Any) -> Info:
        info = {"box": _int64(facts[1]), "on_target": facts[2]}
        return info if self.answer_kind == "actions" else {"label": _int64(facts[0]), **info}

    # ---- Actions of all N ----

    def read(self, actions: object, batch: tuple[int, ...]) -> tuple[Array, Array, Array | None]:
        """Locations, answers and halts from actions whose arrays have the leading axes `batch`."""
        if self._discrete is not None:
            return self._discrete.read(actions, batch, self.count)
        if self.flat:
            return self._read_flat(actions, batch)
        if not isinstance(actions, Mapping) or actions.keys() != self._parts:
            given = list(actions) if isinstance(actions, Mapping) else type(actions).__name__
            allowed = ", ".join(sorted(self._parts))
            raise InputError(f"action: {given}; allowed: a dictionary of {allowed}")
        shape = (*batch, self.location_size)
        location = as_array("action 'location'", actions["location"], np.float32, shape)
        location = _clipped(location)
        symbols = (self._symbols,) if self.answer_kind == "sequence" else ()
        answer = as_array("action 'answer'", actions["answer"], np.int64, (*batch, *symbols))
        halts = None
        if self.halts:
            halts = as_array("action 'halt'", actions["halt"], np.int64, batch)
            if ((halts != 0) & (halts != 1)).any():
                raise InputError(f"action 'halt': {halts}; allowed: 0, 1")
            halts = (halts == 1).reshape(self.count)
        return location.reshape(self.count, self.location_size), answer, halts

    def _read_flat(
        self, actions: object, batch: tuple[int, ...]
    ) -> tuple[Array, Array, Array | None]:
        size = self.action_space.shape[0]  # type: ignore[index]
        action = as_array("action", actions, np.float32, (*batch, size)).reshape(self.count, size)
        action = _clipped(action)
        if (np.abs(action) > 1.0).any():
            raise InputError(f"action: {action.min()} to {action.max()}; allowed: -1 to 1")
        first = self.location_size
        last = first + self._symbols * self._classes
        scores = action[:, first:last].reshape(self.count, self._symbols, self._classes)
        halts = action[:, last] > 0.0 if self.halts else None
        return np.ascontiguousarray(action[:, :first]), scores.argmax(-1), halts


@dataclass(frozen=True, eq=False)
class EnvState:
    """The place of environments in their episodes, from clone_state(). It can be pickled."""

    identity: tuple[object, ...]  # of the arguments
    place: tuple[Any, ...]
    running: bool
    seeded: Array


class Described:
    """Properties of an environment that is built on Worlds."""

    _worlds: Worlds

    def clone_state(self) -> EnvState:
        """The state of the episodes, which restore_state() goes back to, as often as wanted."""
        return self._worlds.clone_state()

    def restore_state(self, state: EnvState) -> None:
        """Continues from a state of this environment, or of one with the same arguments, with the
        same bits. Raises InputError, and changes nothing, for another's."""
        self._worlds.restore_state(state)

    @property
    def num_glimpses(self) -> int:
        """The number of glimpses before the last answer of an episode."""
        return self._worlds.num_glimpses

    @property
    def glimpse_shape(self) -> tuple[int, int, int, int]:
        """Scales, channels, rows and columns of a glimpse."""
        return self._worlds.glimpse_shape

    @property
    def location_size(self) -> int:
        """The numbers of a location: 2, (x, y), or with a zoom 3, (x, y, u)."""
        return self._worlds.location_size

    @property
    def answer_kind(self) -> str:
        """The kind of answer: "class", "sequence" or "actions"."""
        return self._worlds.answer_kind

    @property
    def class_names(self) -> list[str]:
        """The names of the answers."""
        return self._worlds.class_names


def row_of(seen: Observation, row: int) -> Any:
    """The observation of one environment, as views of the arrays of all."""
    if isinstance(seen, dict):
        return {name: values[row] for name, values in seen.items()}
    return seen[row]


def _zoom_yaml(zoom: Sequence[float]) -> str:
    """The range of a zoom as YAML."""
    if isinstance(zoom, (str, bytes)) or not hasattr(zoom, "__len__") or len(zoom) != 2:
        allowed = "None, or two numbers, the closest and the widest"
        raise InputError(f"zoom: {zoom!r}; allowed: {allowed}")
    low, high = (as_number("zoom", end) for end in zoom)
    return f"{{from: {low!r}, to: {high!r}}}"


def _clipped(numbers: Array) -> Array:
    """Clips numbers that are outside [-1, 1] only by rounding; leaves others unchanged."""
    size = np.abs(numbers)
    if ((size > 1.0) & (size <= 1.0 + _ROUNDING)).any():
        return np.where(size <= 1.0 + _ROUNDING, np.clip(numbers, -1.0, 1.0), numbers)
    return numbers


def _int64(numbers: Array) -> Array:
    """A view as int64: arrays from C++ have the type longlong."""
    return numbers.view(np.int64)


def _checksums(arguments: Mapping[str, Any]) -> tuple[object, ...] | None:
    """What tells the images, labels and class names of two environments apart."""
    images, labels = arguments["images"], arguments["labels"]
    if images is None:
        return None
    return (images.shape, zlib.crc32(images), zlib.crc32(labels), tuple(arguments["class_names"]))


def _digits(
    images: object,
    labels: object,
    class_names: Sequence[str] | None,
    asked: Sequence[str],
) -> dict[str, Any]:
    """The images, labels and class names, if they are given."""
    if images is None:
        for name, given in (("labels", labels), ("class_names", class_names)):
            if given is not None:
                raise InputError(f"{name}: given without images; allowed: together with images")
        return {"images": None, "labels": None, "class_names": []}
    pixels, classes, names = labelled(images, labels, class_names)
    if classes is None:
        raise InputError("images: given without labels; allowed: together with labels")
    _require_no_data(asked)
    return {"images": pixels, "labels": classes, "class_names": names}


def _require_no_data(asked: Sequence[str]) -> None:
    for text in asked:
        if text.split("=", 1)[0] in ("data.source", "data.path"):
            raise InputError(f"{text}: given together with images; allowed: one of the two")
