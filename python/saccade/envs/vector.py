"""The vector environment: one C++ call per step for all environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from .. import _saccade
from .._arguments import as_options, as_seed
from .._saccade import InputError
from .actions import PLACES
from .worlds import Array, Described, Info, Worlds, row_of

_AUTORESET = {
    AutoresetMode.NEXT_STEP: _saccade.Autoreset.next_step,
    AutoresetMode.SAME_STEP: _saccade.Autoreset.same_step,
    AutoresetMode.DISABLED: _saccade.Autoreset.disabled,
}


class GlimpseVectorEnv(Described, gym.vector.VectorEnv[Any, Any, Any]):
    """N environments like GlimpseEnv, stepped together.

    The results are bit-identical to those of Gymnasium's SyncVectorEnv over N GlimpseEnv, for any
    number of threads. Every step returns new arrays. Copies behave like those of GlimpseEnv.

    Args:
        num_envs: N.
        autoreset_mode: what happens after the end of an episode, as defined by Gymnasium.
        threads: the number of threads, which step 32 environments at a time; 0 for every processor.
            The results do not depend on it.
        The other arguments are those of GlimpseEnv.

    Raises:
        TypeError: an argument has an unknown name.
        InputError: an argument or action is invalid; the message names the environment, and the
            state is unchanged.
    """

    metadata = {
        "render_modes": ["rgb_array"],
        "render_fps": 3,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    closed = True  # until __init__ succeeds

    def __init__(
        self,
        num_envs: int = 1,
        family: str = "Cluttered60",
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 0,
        images: object = None,
        labels: object = None,
        class_names: Sequence[str] | None = None,
        split: str = "train",
        num_glimpses: int | None = None,
        first: str | None = None,
        halt: bool = False,
        look_price: float = 0.0,
        zoom: Sequence[float] | None = None,
        actions: str = "continuous",
        places: Sequence[int] = PLACES,
        flat: bool = False,
        render_mode: str | None = None,
        **settings: object,
    ) -> None:
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError as error:
            allowed = ", ".join(mode.value for mode in AutoresetMode)
            raise InputError(f"autoreset_mode: {autoreset_mode!r}; allowed: {allowed}") from error
        self._worlds = Worlds(
            num_envs,
            _AUTORESET[self._mode],
            called=GlimpseVectorEnv,
            family=family,
            images=images,
            labels=labels,
            class_names=class_names,
            split=split,
            num_glimpses=num_glimpses,
            first=first,
            halt=halt,
            look_price=look_price,
            zoom=zoom,
            actions=actions,
            places=places,
            flat=flat,
            render_mode=render_mode,
            threads=threads,
            settings=settings,
        )
        self.num_envs = self._worlds.count
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "autoreset_mode": self._mode}
        self.single_observation_space = self._worlds.observation_space
        self.single_action_space = self._worlds.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.closed = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, Info]:
        """Starts an episode in every environment, or in those of `options["reset_mask"]` (N).

        seed: environment i gets seed + i, or item i of a list. An environment without a seed starts
            its next episode.
        options: also "settings", a dictionary of settings that the episodes of all have from now on,
            such as {"num_distractors": 2}, for a curriculum. The spaces must stay as they are.
        """
        given = as_options(options, ("reset_mask", "settings"))
        if "settings" in given and "reset_mask" in given:
            raise InputError("options: reset_mask with settings; allowed: one of the two")
        mask, chosen = self._mask(given), self._seeds(seed)
        if "settings" in given:
            self._worlds.begin_with(given["settings"], GlimpseVectorEnv)
        seeds = self._worlds.seeds(chosen, self.np_random)
        seen, info = self._worlds.reset(seeds, mask)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        for values in info.values():
            values[~mask] = 0
        return seen, _masked(info, mask)

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, Info]:
        """Answers and moves the glimpse in every environment."""
        worlds = self._worlds
        seen, info, rewards, terminated = worlds.step(*worlds.read(actions, (self.num_envs,)))
        infos = _masked(info, np.ones(self.num_envs, np.bool_))
        if self._mode is AutoresetMode.SAME_STEP and terminated.any():
            infos.update(self._final(terminated))
        return seen, rewards, terminated, np.zeros(self.num_envs, np.bool_), infos

    # A curriculum, as Gymnasium's SyncVectorEnv has it.

    def set_attr(self, name: str, values: Any) -> None:
        """Changes a setting of the scenes by its YAML name, such as num_distractors, in the episodes
        that begin from now on; those that run end as they began. The spaces must stay as they are.

        values: the new value; or a list of one for each environment, which must be equal, because
            the environments share their settings.
        """
        value = values
        if isinstance(values, (list, tuple)):
            if len(values) != self.num_envs or any(each != values[0] for each in values):
                raise InputError(
                    f"set_attr('{name}', {values!r}): allowed: one value, or {self.num_envs} equal ones"
                )
            value = values[0]
        self._worlds.change(name, value, GlimpseVectorEnv)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """A setting of the scenes, or an attribute, once for each environment."""
        if self._worlds.setting_named(name) is not None:
            return (self._worlds.setting(name),) * self.num_envs
        if name in ("observation_space", "action_space"):  # that of one environment
            name = f"single_{name}"
        return (getattr(self, name),) * self.num_envs

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """get_attr; or the pictures of `render`. Other methods are not those of one environment."""
        if name == "render":
            return self.render(*args, **kwargs) or ()
        found = self.get_attr(name)
        if callable(found[0]):
            raise InputError(
                f"call('{name}'): not a method of a single environment; allowed: render, and what "
                "get_attr() returns"
            )
        if args or kwargs:
            raise InputError(f"call('{name}'): takes no arguments; set_attr() changes a setting")
        return found

    def canvases(self) -> npt.NDArray[np.uint8]:
        """The whole canvases (N, rows, cols, channels) that the environments show now, for those who
        train with more than a glimpse, such as saccade.torch.look."""
        return self._worlds.canvases()

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        """The episodes so far, (rows, cols, 3) each, if render_mode is "rgb_array"."""
        if self.render_mode is None:
            gym.logger.warn('render() shows nothing without render_mode="rgb_array"')
            return None
        return tuple(self._worlds.render(i) for i in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the environments. Afterwards only close() may be called."""
        self._worlds.close()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [as_seed(int(seed) + i) for i in range(self.num_envs)]
        if not isinstance(seed, Sequence) and not isinstance(seed, np.ndarray):
            raise InputError(f"seed: {seed!r}; allowed: an integer, a list of them, None")
        if len(seed) != self.num_envs:
            raise InputError(f"seed: {len(seed)} seeds; allowed: {self.num_envs}")
        return [None if each is None else as_seed(each) for each in seed]

    def _mask(self, given: dict[str, Any]) -> Array:
        if "reset_mask" not in given:
            return np.ones(self.num_envs, np.bool_)
        mask = given["reset_mask"]
        if not (
            isinstance(mask, np.ndarray)
            and mask.dtype == np.bool_
            and mask.shape == (self.num_envs,)
            and mask.any()
        ):
            raise InputError(
                f"reset_mask: {mask!r}; allowed: a bool array ({self.num_envs},) "
                "with at least one True"
            )
        return np.ascontiguousarray(mask)

    def _final(self, terminated: Array) -> Info:
        """`final_obs`, `final_info` and their masks for the episodes that ended."""
        which = np.flatnonzero(terminated)
        seen, facts = self._worlds.final(which)
        observations = np.full(self.num_envs, None, object)
        for row, i in enumerate(which):
            observations[i] = row_of(seen, row)
        info = {name: np.zeros((self.num_envs, *v.shape[1:]), v.dtype) for name, v in facts.items()}
        for name, values in facts.items():
            info[name][which] = values
        return {
            "final_obs": observations,
            "_final_obs": terminated.copy(),
            "final_info": _masked(info, terminated),
            "_final_info": terminated.copy(),
        }


def _masked(info: dict[str, Array], mask: Array) -> Info:
    """Adds a mask for each key, as in Gymnasium."""
    return info | {f"_{name}": mask.copy() for name in info}
