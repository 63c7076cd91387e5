"""Your own worlds, to train in without a line of C++.

`saccade.train(config, world=MyWorld)` takes any function that makes a batch of episodes, such as a
class as `World` describes it. `from_vector_env` makes one of a Gymnasium vector environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ._arguments import as_number
from ._saccade import InputError

__all__ = ["PlayedWorld", "World", "from_vector_env"]


class World(Protocol):
    """B episodes, which begin and end together, as `saccade.train(world=...)` plays them.

    world(B) makes one: `saccade.train(config, world=MyWorld)` for a class whose constructor takes the
    number of episodes. A training makes several, one for each thread: of training.lane_size episodes
    for the training, of 100 for validation and test. Each is called by one thread at a time, not
    always the same, once a step for all its episodes. Before, one of 2 episodes is made and looked
    at, which tells the size of a glimpse.

    An episode has attention.glimpse.num_glimpses looks. A world asks for a class after the last one,
    or it has a method `act` as well, as `PlayedWorld`, and the agent acts after each look.

    A world that asks for a class has the attribute class_names, the names in the order of the
    labels, or num_classes. What has a method `close` is closed at the end.
    """

    def reset(self, scenes: npt.NDArray[np.int64]) -> Any:
        """Begins the episodes with the scenes of these numbers (B). Returns the classes (B), integers
        from 0, or None if look() tells them, or there are none.

        Everything random in an episode must depend on the number of its scene alone: draw with
        `numpy.random.default_rng([seed, scene])`, not from a generator that goes on. Then a run has
        the same bytes with any number of threads, and after it was stopped and resumed. Training has
        the scenes 0, 1, ..; with reinforce.rollouts: M each M times in a row. Validation has those
        from 2**61 on and the test those from 2**62 on.
        """
        ...

    def look(self, locations: npt.NDArray[np.float32]) -> Any:
        """Looks at these locations (B, 2), x and y in [-1, 1]. Returns glimpses (B, any, ...), finite
        numbers about as large as 1 (networks read them by data.mean and data.deviation).

        Or returns a dict of `glimpses` and, if need be, `locations` (B, 2), where it really looked,
        as the first look of an eye that begins at a place of its own; and `labels` (B), the classes,
        which must be known by the last look.
        """
        ...


class PlayedWorld(World, Protocol):
    """A world in which the agent acts, and which asks for no class.

    Attributes: action_names, the names of the actions in their order, or num_actions; and
    best_return, by default 1: the return of an episode that counts as no error. The errors that are
    logged, and by which the best checkpoint is chosen, are 1 - return / best_return within [0, 1].
    They tell returns below 0 not apart, from which the agent learns all the same.
    """

    def act(self, actions: npt.NDArray[np.int64]) -> Any:
        """Takes a step with these actions (B), below num_actions, after each look. Returns what the
        step earns, (B), finite numbers. An episode that is over earns 0."""
        ...


def from_vector_env(
    make: Callable[[int], gym.vector.VectorEnv[Any, Any, Any]], *, max_step: float | None = None
) -> Callable[[int], World]:
    """A world made of Gymnasium vector environments that ask for a class, for `train(world=...)`.

    make: a function of num_envs that makes a vector environment. Its spaces are those of
        `saccade.envs.GlimpseVectorEnv`: actions are a dict of `location` (N, 2) and `answer` (N),
        observations have `glimpse` and `location`, and info["label"] is the class, from reset() on.
        Or they are those of ap_gym's classification environments: `action` and `prediction`;
        `glimpse` and `glimpse_pos`; and info["prediction"]["target"].
    max_step: None if an action is the next location. Else it is a step, as in ap_gym's own
        environments, whose length of 1 moves by so much; a location that is farther away is
        approached. An agent of attention.glimpse.moves: relative, with this number as
        attention.glimpse.max_step, knows how far it gets.

    The first look is where the environment begins, whatever the agent chose. Rewards of the
    environment are not read: what a look earns follows from the classes (reinforce.reward, or
    train(reward=...)). reset() gets the number of the first scene as its seed, or a list of the
    numbers if they do not count up. Environments whose answer counts at every step, as our Catch,
    are refused, since what an action earns comes only with the next look.
    """
    if not callable(make):
        raise InputError(
            f"make: {type(make).__name__}; allowed: a function of num_envs that makes a VectorEnv"
        )
    step = None if max_step is None else as_number("max_step", max_step)
    if step is not None and not 0.0 < step <= 2.0:
        raise InputError(f"max_step: {step}; allowed: more than 0, up to 2, or None")
    return lambda count: _VectorWorld(make(count), count, step)


class _VectorWorld:
    def __init__(self, envs: Any, count: int, max_step: float | None) -> None:
        if not isinstance(envs, gym.vector.VectorEnv) or envs.num_envs != count:
            number = getattr(envs, "num_envs", None)
            given = type(envs).__name__ if number is None else f"{number} environments"
            raise InputError(f"make({count}) returned {given}; allowed: a VectorEnv of {count}")
        if envs.metadata.get("autoreset_mode") == gym.vector.AutoresetMode.SAME_STEP:
            raise InputError("autoreset_mode: SAME_STEP; allowed: NEXT_STEP or DISABLED")
        self._envs, self._max_step = envs, max_step
        actions: Any = envs.action_space
        answers: Any = envs.single_action_space
        seen = envs.single_observation_space
        self._place = _key("action", actions, ("location", "action"))
        self._answer = _key("action", actions, ("answer", "prediction"))
        self._seen_place = _key("observation", seen, ("location", "glimpse_pos"))
        _key("observation", seen, ("glimpse",))
        self.class_names = _class_names(envs, answers[self._answer])
        self._idle = {key: np.zeros(s.shape, s.dtype) for key, s in actions.items()}
        self._seen: Mapping[str, Any] = {}
        self._looks, self._over = 0, False

    def reset(self, scenes: npt.NDArray[np.int64]) -> Any:
        counts_up = bool((np.diff(scenes) == 1).all())
        self._seen, info = self._envs.reset(seed=int(scenes[0]) if counts_up else scenes.tolist())
        self._looks, self._over = 0, False
        return self._labels(info)

    def look(self, locations: npt.NDArray[np.float32]) -> Any:
        labels = self._step(locations) if self._looks > 0 else None
        self._looks += 1
        places = np.clip(self._seen[self._seen_place], -1.0, 1.0)
        return {"glimpses": self._seen["glimpse"], "locations": places, "labels": labels}

    def close(self) -> None:
        self._envs.close()

    def _step(self, locations: npt.NDArray[np.float32]) -> Any:
        if self._over:
            raise RuntimeError(
                f"an episode ended after {self._looks} looks; allowed: attention.glimpse.num_glimpses: "
                f"1 to {self._looks}"
            )
        action = locations
        if self._max_step is not None:
            action = (locations - self._seen[self._seen_place]) / self._max_step
            action = action / np.maximum(1.0, np.linalg.norm(action, axis=1, keepdims=True))
        self._seen, _, terminated, truncated, info = self._envs.step(
            {**self._idle, self._place: action.astype(np.float32)}
        )
        self._over = bool(np.any(terminated) or np.any(truncated))
        return self._labels(info)

    def _labels(self, info: Mapping[str, Any]) -> Any:
        if self._answer == "prediction":
            return info.get("prediction", {}).get("target")
        if "label" not in info:
            raise InputError(f"info: {list(info)} without label; allowed: environments that ask for a class")
        return info["label"]


def _key(name: str, space: Any, keys: tuple[str, ...]) -> str:
    known = list(space.spaces) if isinstance(space, gym.spaces.Dict) else []
    for key in keys:
        if key in known:
            return key
    raise InputError(f"the {name} space: {known or space}; allowed: a Dict with {' or '.join(keys)}")


def _class_names(envs: Any, answer: Any) -> list[str]:
    if isinstance(answer, gym.spaces.Discrete):
        count = int(answer.n)
    elif isinstance(answer, gym.spaces.Box) and len(answer.shape) == 1:
        count = answer.shape[0]  # a number for each class
    else:
        raise InputError(f"the action space's answer: {answer}; allowed: one class")
    names = getattr(envs, "class_names", None)
    return [str(k) for k in range(count)] if names is None else list(names)
