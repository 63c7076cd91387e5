"""The single environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from .. import _saccade
from .._arguments import as_options, as_seed
from .actions import PLACES
from .worlds import Array, Described, Info, Worlds, row_of


class GlimpseEnv(Described, gym.Env[Any, Any]):
    """A scene that the agent sees through a retina, one glimpse per step.

    reset() takes the first glimpse. The action of a step is an answer and the next location. Only
    the last answer of an episode counts: at step `num_glimpses` (earlier for a bag with fewer
    digits), or when the agent halts. It earns a reward of 1 if it is right, and the episode
    terminates. At other steps the next glimpse costs `look_price`. In Catch the answer is an action
    that moves the paddle at every step; each caught ball earns 1. In Search the first glimpse, that
    of reset(), sees the cue, and all later ones the scene.

    Observation: a dictionary of `glimpse` (scales, channels, patch, patch), pixels in [0, 1], the
    finest scale first; `location` (2), its location (x, y) in [-1, 1], where (0, 0) is the centre,
    x points right and y down; and `step`, the number of steps so far, 0 to num_glimpses. With
    `flat`, one array: the glimpse, the location and step / num_glimpses.

    With `zoom` a location has a third number in [-1, 1], the zoom of its glimpse, spaced by the
    logarithm: -1 is the closest, 1 the widest.

    Action: a dictionary of `location` and `answer`, a class, or all symbols of a sequence; with
    `halt` also `halt`, 1 to end the episode with this answer. With `flat`, one array in [-1, 1]:
    the location; a score for each class (for each symbol), of which the highest is the answer; and
    with `halt` a number that halts if it is positive.

    With `actions="discrete"`, an action is an array of whole numbers, one for each part: the place,
    of `places` (rows, cols), counted row by row from the upper left, each the centre of a tile of
    the canvas; with `zoom` the zoom, 0 to 2, from the closest to the widest; the answer, for a
    sequence once for each symbol; and with `halt` 1 to halt. With `actions="flat_discrete"` it is
    one number for all of these, of which the first counts most, as numpy.ravel_multi_index does.

    Info, which the agent does not see: `label` (for a sequence its symbols, -1 after the end mark;
    absent in Catch); `box`, the place of the digit in canvas pixels: x, y, width, height (with
    several digits, one row each); and `on_target`, whether the location is inside a digit's box.

    A copy (copy.deepcopy, pickle) continues from the same place with the same bits, even in the
    middle of an episode.

    Seed s gives the scenes of environment i of a GlimpseVectorEnv with seed s - i.

    Args:
        family: the task that gives the default scene and retina, a key of FAMILIES.
        images, labels, class_names: your own images instead of `data`, as for saccade.train.
        split: the part of the data: "train" (new scenes in every episode), "valid" or "test". Your
            own images are not divided: each part has all of them.
        num_glimpses: the number of glimpses before the last answer, 1 to 256.
        first: the first location, "random" or "center".
        halt: whether the agent may end its episode.
        look_price: the cost, in reward, of each glimpse after the first.
        zoom: None, or the closest and the widest zoom that a location chooses from: how many canvas
            pixels, along a side, a pixel of the finest scale averages (`zoom=(1, 4)`).
        actions: "continuous", "discrete" or "flat_discrete", see above.
        places: the grid of locations (rows, cols) of discrete actions.
        flat: whether an observation and an action are one array each, for libraries that need it.
        render_mode: None, or "rgb_array": render() draws what `saccade record` draws.
        settings: every setting of the sections data, scene and retina by its YAML name
            (`patch_size=8`), and the sections as dictionaries (`scene={"canvas": [60, 60]}`);
            `data="synthetic"` sets the source.

    Raises:
        TypeError: an argument has an unknown name.
        InputError: an argument or action is invalid; the state is unchanged.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 3}

    def __init__(
        self,
        family: str = "Cluttered60",
        *,
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
        self._worlds = Worlds(
            1,
            _saccade.Autoreset.disabled,
            called=GlimpseEnv,
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
            threads=1,
            settings=settings,
        )
        self.render_mode = render_mode
        self.observation_space = self._worlds.observation_space
        self.action_space = self._worlds.action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Starts an episode: the first one of `seed`, or, without a seed, the next one.

        options: "settings", a dictionary of settings that the episodes have from now on, such as
            {"num_distractors": 2}, for a curriculum. The spaces must stay as they are.
        """
        given = as_options(options, ("settings",))
        chosen = None if seed is None else as_seed(seed)
        if "settings" in given:
            self._worlds.begin_with(given["settings"], GlimpseEnv)
        seeds = self._worlds.seeds([chosen], self.np_random)
        super().reset(seed=seed)
        seen, info = self._worlds.reset(seeds, np.ones(1, np.bool_))
        return row_of(seen, 0), _facts(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Answers and moves the glimpse."""
        seen, info, rewards, terminated = self._worlds.step(*self._worlds.read(action, ()))
        return row_of(seen, 0), float(rewards[0]), bool(terminated[0]), False, _facts(info)

    # A curriculum through Gymnasium's calls, also those of its vector environments.

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether there is such an attribute, or a setting of the scenes."""
        return self._worlds.setting_named(name) is not None or super().has_wrapper_attr(name)

    def get_wrapper_attr(self, name: str) -> Any:
        """An attribute, or a setting of the scenes by its YAML name."""
        if self._worlds.setting_named(name) is not None:
            return self._worlds.setting(name)
        return super().get_wrapper_attr(name)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Changes a setting of the scenes, such as num_distractors, in the episodes that begin from
        now on; or sets an attribute. The spaces must stay as they are."""
        if self._worlds.setting_named(name) is None:
            return super().set_wrapper_attr(name, value, force=force)
        self._worlds.change(name, value, GlimpseEnv)
        return True

    def render(self) -> npt.NDArray[np.uint8] | None:
        """The episode so far, (rows, cols, 3), if render_mode is "rgb_array"."""
        if self.render_mode is None:
            gym.logger.warn('render() shows nothing without render_mode="rgb_array"')
            return None
        return self._worlds.render(0)

    def close(self) -> None:
        """Closes the environment. Nothing else may be called afterwards."""
        self._worlds.close()


def _facts(info: dict[str, Array]) -> Info:
    return {
        name: values[0] if values.ndim > 1 else values[0].item() for name, values in info.items()
    }
