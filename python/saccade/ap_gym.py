"""The environments with the interface of ap_gym, for its agents and wrappers.

Needs the package ap-gym. An action is a dictionary of `action`, the next location (x, y) in [-1,
1], and `prediction`, the logits of the classes. The reward of each step is the base reward minus
the loss of the prediction. `info["prediction"]` has `target`, `loss` and `metrics`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ap_gym  # type: ignore[import-untyped]
import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from ._arrays import as_array
from ._saccade import InputError
from .envs import GlimpseVectorEnv
from .envs.families import family_of

__all__ = ["ActiveGlimpseEnv", "ActiveGlimpseVectorEnv", "make", "make_vec"]


class ActiveGlimpseVectorEnv(ap_gym.ActiveClassificationVectorEnv):  # type: ignore[misc]
    """N environments whose answer is a class, with the interface of ap_gym's image classification.

    Observation: a dictionary of `glimpse` (N, patch, patch, scales * channels), `glimpse_pos`
    (N, 2), the location of the glimpse (with `zoom` (N, 3), as the action), and `time_step` (N),
    from -1 at the first glimpse to 1 at the end. The base reward is minus the price of glimpses. Arguments are those of
    GlimpseVectorEnv, without `flat`, `halt`, `actions` and `places`.
    """

    metadata = GlimpseVectorEnv.metadata
    closed = True  # until __init__ succeeds

    def __init__(
        self, num_envs: int = 1, family: str = "Cluttered60", *, threads: int = 0, **arguments: Any
    ) -> None:
        for name in ("flat", "halt", "actions", "places"):
            if name in arguments:
                raise InputError(
                    f"{name}: {arguments[name]!r}; not supported by ap_gym's interface"
                )
        self._envs = GlimpseVectorEnv(num_envs, family, threads=threads, **arguments)
        if self._envs.answer_kind != "class":
            kind = self._envs.answer_kind
            raise InputError(
                f"family: {family} has answers of kind {kind}; "
                "allowed: families that answer with a class"
            )
        super().__init__(
            self._envs.num_envs,
            len(self._envs.class_names),
            spaces.Box(-1.0, 1.0, (self._envs.location_size,), np.float32),
        )
        self.metadata = self._envs.metadata
        self.render_mode = self._envs.render_mode
        scales, channels, side, _ = self._envs.glimpse_shape
        self.single_observation_space = spaces.Dict(
            {
                "glimpse": ap_gym.ImageSpace(side, side, scales * channels),
                "glimpse_pos": spaces.Box(-1.0, 1.0, (self._envs.location_size,), np.float32),
                "time_step": spaces.Box(-1.0, 1.0, (), np.float32),
            }
        )
        self.observation_space = gym.vector.utils.batch_space(
            self.single_observation_space, self.num_envs
        )
        self.closed = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """See GlimpseVectorEnv.reset()."""
        seen, info = self._envs.reset(seed=seed, options=options)
        if isinstance(seed, (int, np.integer)):
            gym.vector.VectorEnv.reset(self, seed=int(seed))
        return self._shown(seen), info

    def _step(self, action: Any, prediction: Any) -> tuple[Any, ...]:
        shape = self.prediction_space.shape
        logits = as_array("action 'prediction'", prediction, np.float32, shape)
        seen, rewards, terminated, truncated, info = self._envs.step(
            {"location": action, "answer": logits.argmax(axis=-1)}
        )
        target = info["label"]
        if "final_obs" in info:  # same-step: the prediction belongs to the episode that ended
            observations = info["final_obs"]
            for i in np.flatnonzero(terminated):
                one = {name: part[np.newaxis] for name, part in observations[i].items()}
                observations[i] = {name: np.asarray(p[0]) for name, p in self._shown(one).items()}
            target = np.where(terminated, info["final_info"]["label"], target)
        return (
            self._shown(seen),
            np.where(terminated, 0.0, rewards),
            terminated,
            truncated,
            info,
            target,
        )

    def render(self) -> Any:
        """See GlimpseVectorEnv.render()."""
        return self._envs.render()

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the environments. Afterwards only close() may be called."""
        self._envs.close()

    def _shown(self, seen: dict[str, Any]) -> dict[str, Any]:
        glimpse, last = seen["glimpse"], self._envs.num_glimpses
        count, scales, channels, side, _ = glimpse.shape
        return {
            "glimpse": np.moveaxis(glimpse.reshape(count, scales * channels, side, side), 1, -1),
            "glimpse_pos": seen["location"],
            "time_step": (2.0 * seen["step"] / last - 1.0).astype(np.float32),
        }


class ActiveGlimpseEnv(ap_gym.ActivePerceptionVectorToSingleWrapper):  # type: ignore[misc]
    """A single environment with the interface of ap_gym. Arguments are those of GlimpseEnv."""

    def __init__(self, family: str = "Cluttered60", **arguments: Any) -> None:
        for name in ("autoreset_mode", "threads"):
            if name in arguments:
                raise InputError(
                    f"{name}: {arguments[name]!r}; allowed only for a vector environment"
                )
        super().__init__(ActiveGlimpseVectorEnv(1, family, threads=1, **arguments))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """See ap_gym; rewards and flags are Python numbers."""
        seen, reward, terminated, truncated, info = super().step(action)
        return seen, float(reward), bool(terminated), bool(truncated), info


def make_vec(
    id: str, num_envs: int = 1, *, threads: int = 0, **arguments: Any
) -> ActiveGlimpseVectorEnv:
    """A vector environment by its Gymnasium id ("saccade/Cluttered60-v0")."""
    return ActiveGlimpseVectorEnv(num_envs, family_of(id), threads=threads, **arguments)


def make(id: str, **arguments: Any) -> ActiveGlimpseEnv:
    """A single environment by its Gymnasium id."""
    return ActiveGlimpseEnv(family_of(id), **arguments)
