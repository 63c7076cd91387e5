"""What a user gives beside the settings: scenes, a world, a reward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._arguments import MAX_SCENES, as_integer
from ._labelled import type_of
from ._own_reward import OwnReward
from ._own_scenes import Blocks, OwnScenes
from ._own_world import OwnWorlds
from ._saccade import InputError
from ._settings import Settings, as_overrides


def own_or_number(
    scenes: Any, episodes: int | None, default: int, images: Any
) -> tuple[Any, int]:
    """Of `scenes`, which are a user's own or a number: the own ones or None, and how many. Neither
    these nor `episodes` go with images."""
    for name, given in (("scenes", scenes), ("episodes", episodes)):
        if given is not None and images is not None:
            raise InputError(f"{name}: given together with images; allowed: one of the two")
    if scenes is None or callable(getattr(scenes, "canvases", None)):
        count = default if episodes is None else episodes
        return scenes, as_integer("episodes", count, 1, MAX_SCENES)
    if episodes is not None:
        raise InputError("episodes: given together with a number of scenes; allowed: one of the two")
    return None, as_integer("scenes", scenes, 1, MAX_SCENES)


class OwnParts:
    """They, checked, as the C++ side takes them: `blocks`, `world` and `reward`, None for what is not
    given."""

    def __init__(
        self,
        scenes: Any = None,
        valid_scenes: Any = None,
        test_scenes: Any = None,
        world: Any = None,
        reward: Any = None,
        class_names: Sequence[str] | None = None,
        images: Any = None,
    ) -> None:
        """images, scenes, world: at most one of the three."""
        for name, given in (("valid_scenes", valid_scenes), ("test_scenes", test_scenes)):
            if scenes is None and given is not None:
                raise InputError(f"{name}: given without scenes; allowed: together with scenes")
        shows = {"images": images, "scenes": scenes, "world": world}
        several = [name for name, given in shows.items() if given is not None]
        if len(several) > 1:
            raise InputError(
                f"{several[1]}: given together with {several[0]}; allowed: one of the two"
            )
        self._parts: dict[str, OwnScenes | OwnWorlds | OwnReward] = {}
        self._sequential = False
        self.blocks: tuple[Blocks, Blocks, Blocks] | None = None
        self.world: OwnWorlds | None = None
        self.reward: OwnReward | None = None
        if scenes is not None:
            shown = OwnScenes(scenes, valid_scenes, test_scenes, class_names)
            self._parts["scenes"], self.blocks = shown, shown.blocks
            self._sequential = shown.sequential
        if world is not None:
            self._parts["world"] = self.world = OwnWorlds(world, class_names)
        if reward is not None:
            self._parts["reward"] = self.reward = OwnReward(reward)
        self.settings: dict[str, Settings] = {
            name: part.settings for name, part in self._parts.items()
        }
        self.named = {  # for command.txt
            "scenes": type_of(scenes),
            "valid_scenes": type_of(valid_scenes),
            "test_scenes": type_of(test_scenes),
            "world": type_of(world),
            "reward": type_of(reward),
        }

    @property
    def shows(self) -> bool:
        """Whether there are scenes or a world, instead of those of a configuration."""
        return self.blocks is not None or self.world is not None

    def overrides(self, other_scenes: Settings | None = None) -> list[str]:
        """The settings with which a trained agent is tested on them, or on `other_scenes`."""
        if other_scenes and self.shows:
            name = "world" if self.world is not None else "scenes"
            raise InputError(f"other_scenes: given together with {name}; allowed: one of the two")
        overrides = as_overrides("other_scenes", other_scenes)
        for name, settings in self.settings.items():
            overrides += as_overrides(name, settings)
        return overrides

    def jobs(self, jobs: int) -> int:
        """The number of runs that may use them at once, of those asked for; 0: the default."""
        if jobs != 0:
            jobs = as_integer("jobs", jobs, 1, 1024)
        if not self._sequential:
            return jobs
        if jobs > 1:
            raise InputError(
                f"jobs: {jobs}; allowed with the scenes of a generator, which one run passes over at a "
                "time: 1"
            )
        return 1

    @contextmanager
    def used(self, ending: str) -> Iterator[None]:
        """While they are used. What one of them raised becomes the cause of the RuntimeError that it
        led to, of which `ending` says what it ended."""
        try:
            yield
        except RuntimeError as error:
            for name, part in self._parts.items():
                if part.error() is not None:
                    raise RuntimeError(f"{name}: {ending}: {error}") from part.error()
            raise
        finally:
            if self.world is not None:
                self.world.close()
