"""The environments as vector environments of Stable-Baselines3. Needs the package
stable-baselines3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from ._saccade import InputError
from .envs import GlimpseVectorEnv
from .envs.families import family_of

__all__ = ["GlimpseVecEnv", "make_vec"]


class GlimpseVecEnv(VecEnv):
    """N environments as a VecEnv of Stable-Baselines3, stepped in one call.

    Observations and actions are flat (see GlimpseEnv). The info of an episode that ended has
    `terminal_observation` and `TimeLimit.truncated`; other infos are empty. Arguments are those of
    GlimpseVectorEnv, without `flat` and `autoreset_mode`.
    """

    def __init__(
        self, num_envs: int = 1, family: str = "Cluttered60", *, threads: int = 0, **arguments: Any
    ) -> None:
        for name in ("flat", "autoreset_mode"):
            if name in arguments:
                raise InputError(
                    f"{name}: {arguments[name]!r}; Stable-Baselines3 fixes this argument"
                )
        self.envs = GlimpseVectorEnv(
            num_envs,
            family,
            flat=True,
            autoreset_mode=AutoresetMode.SAME_STEP,
            threads=threads,
            **arguments,
        )
        self.render_mode = self.envs.render_mode
        super().__init__(
            self.envs.num_envs, self.envs.single_observation_space, self.envs.single_action_space
        )

    def reset(self) -> Any:
        """The first observations, with the seeds of seed() and the settings of set_options() if they
        were called."""
        options = self._options[0]
        if any(each != options for each in self._options):
            raise InputError("set_options: others for each environment; allowed: the same for all")
        observation, _ = self.envs.reset(seed=self._seeds, options=options)
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observation

    def step_async(self, actions: Any) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        observation, rewards, ended, _, facts = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(ended):
            infos[i] = {
                "terminal_observation": facts["final_obs"][i],
                "TimeLimit.truncated": False,
            }
        return observation, rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        self.envs.close()

    def get_images(self) -> Sequence[Any]:
        return self.envs.render() or ()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return list(self.envs.get_attr(attr_name))[: len(self._indices(indices))]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Changes a setting of the scenes in all environments: see GlimpseVectorEnv.set_attr()."""
        if len(set(self._indices(indices))) < self.num_envs:
            raise InputError(
                f"set_attr('{attr_name}', {value!r}): indices {indices!r}; allowed: None, because "
                "the environments share their settings"
            )
        self.envs.set_attr(attr_name, [value] * self.num_envs)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        raise InputError(f"env_method('{method_name}'): not supported by a vector environment")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False] * len(self._indices(indices))

    def _indices(self, indices: Any) -> Any:
        return list(self._get_indices(indices))


def make_vec(id: str, num_envs: int = 1, *, threads: int = 0, **arguments: Any) -> VecMonitor:
    """A GlimpseVecEnv by its Gymnasium id ("saccade/Cluttered60-v0"), in a VecMonitor: the info of
    an episode that ended has its return and length as `episode`."""
    return VecMonitor(GlimpseVecEnv(num_envs, family_of(id), threads=threads, **arguments))
