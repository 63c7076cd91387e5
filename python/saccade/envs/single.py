"""The environment of one episode at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from .. import _saccade
from .._arguments import as_options
from .worlds import Array, Described, Info, Worlds, row_of


class GlimpseEnv(Described, gym.Env[Any, Any]):
    """A scene that is seen through a retina, one look a step.

    reset() takes the first look. A step hands over an answer and where to look next. The answer
    counts in the last step of the episode, the `num_glimpses`-th (of a bag with fewer digits an
    earlier one), or where it halts: there it earns 1 if it is right, and the episode terminates. In
    the others each look costs `look_price`. In Catch the answer is an action that moves the paddle
    at every step, and earns 1 for each ball that is caught.

    Observation: a dictionary of `glimpse` (scales, channels, patch, patch), pixels in [0, 1], the
    finest scale first; `location` (2), where that was seen: (x, y) in [-1, 1], (0, 0) the centre,
    x to the right, y down; and `step`, how many there were, 0 to num_glimpses. With `flat` one
    array: the glimpse, the location and step / num_glimpses.

    Action: a dictionary of `location` (2) and `answer`, a class, or of a sequence its symbols, each
    of them; with `halt` also `halt`, 1 to end the episode with this answer. With `flat` one array
    in [-1, 1]: the location, a score for each answer (of each symbol), of which the highest counts,
    and with `halt` a number that halts if it is above 0.

    Info, which an agent does not see: `label` (of a sequence its symbols, -1 after the end mark;
    none in Catch), `box`, where the digit is in pixels of the canvas: x, y, width, height (of
    several digits a row each), and `on_target`, whether the look is inside a digit's box.

    A copy (copy.deepcopy, pickle) goes on from the same place with the same bits, in the midst of an
    episode as well.

    A seed s shows the scenes that environment i of GlimpseVectorEnv shows with seed s - i.

    Args:
        family: the task whose scene and retina it begins with, a key of FAMILIES.
        images, labels, class_names: digits of your own in place of `data`, as saccade.train takes
            them.
        split: the part of the data: "train" (fresh scenes for ever), "valid" or "test".
        num_glimpses: looks in an episode that an answer can rest on, 1 to 256.
        first: where the first look goes, "random" or "center".
        halt: whether the agent may end its episode.
        look_price: taken from the reward for each look after the first.
        flat: one array for an observation and one for an action, for libraries that need that.
        render_mode: None, or "rgb_array": render() draws what `saccade record` draws.
        settings: every setting of the sections data, scene and retina by its YAML name
            (`patch_size=8`), and the sections as dictionaries (`scene={"canvas": [60, 60]}`);
            `data="synthetic"` is its source.

    Raises:
        TypeError: for an argument of another name.
        InputError: for any argument or action that cannot be; nothing has changed then.
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
        """Begins an episode: the first one of `seed`, or that which follows the last. There are no
        `options`."""
        as_options(options)
        seeds = self._worlds.seeds([seed], self.np_random)
        super().reset(seed=seed)
        seen, info = self._worlds.reset(seeds, np.ones(1, np.bool_))
        return row_of(seen, 0), _facts(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Answers, and looks elsewhere."""
        seen, info, rewards, terminated = self._worlds.step(*self._worlds.read(action, ()))
        return row_of(seen, 0), float(rewards[0]), bool(terminated[0]), False, _facts(info)

    def render(self) -> npt.NDArray[np.uint8] | None:
        """The episode so far, (rows, cols, 3), if render_mode is "rgb_array"."""
        if self.render_mode is None:
            gym.logger.warn('render() shows nothing without render_mode="rgb_array"')
            return None
        return self._worlds.render(0)

    def close(self) -> None:
        """Nothing else may be called after it."""
        self._worlds.close()


def _facts(info: dict[str, Array]) -> Info:
    return {
        name: values[0] if values.ndim > 1 else values[0].item() for name, values in info.items()
    }
