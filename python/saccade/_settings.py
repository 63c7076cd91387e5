"""Configurations from Python: a file, a preset or a dict, and overrides."""

from __future__ import annotations

import json
import math
import numbers
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _saccade
from ._arguments import as_seed
from ._saccade import InputError

Settings = Mapping[str, Any]
Config = str | os.PathLike[str] | Settings

_STUDY_KEYS = ("vary", "seeds", "tuned_by")
_PACKAGE = Path(__file__).parent
_PRESETS = _PACKAGE / "experiments"
_saccade.set_shipped_root(_PACKAGE)


def presets() -> list[str]:
    """The names of the presets that come with the package."""
    return sorted(path.stem for path in _PRESETS.glob("*.yaml"))


def preset_file(name: str) -> Path:
    """The file of the preset with this name, which may not exist."""
    return _PRESETS / f"{name}.yaml"


def trained_agents() -> list[str]:
    """The names of the trained agents that come with the package, for `load`."""
    return _saccade.shipped_agents()


def find_file(config: str | os.PathLike[str]) -> Path:
    """A file, or else the preset with this name: "quickstart", "experiments/quickstart.yaml"."""
    path = Path(config)
    if path.is_file():
        return path
    preset = preset_file(path.stem)
    if (
        str(path.parent) in (".", "experiments")
        and path.suffix in ("", ".yaml")
        and preset.is_file()
    ):
        return preset
    raise InputError(
        f"config: '{config}' is neither a file nor a preset; allowed: the path of a YAML file, one "
        f"of {', '.join(presets())}, or a dict"
    )


def to_yaml(key: str, value: Any) -> str:
    """A value as YAML, exactly. `key` is for the message if YAML cannot express it."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return _number(key, float(value))
    if isinstance(value, str | os.PathLike):
        return _text(os.fspath(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(k)}: {to_yaml(key, v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(to_yaml(key, v) for v in value) + "]"
    raise InputError(
        f"{key}: {value!r}; allowed: numbers, text, True, False, None, and lists and dicts of these"
    )


def _number(key: str, value: float) -> str:
    if not math.isfinite(value):
        raise InputError(f"{key}: {value}; allowed: finite numbers")
    # So that 1e6 is accepted as a count.
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _text(text: str) -> str:
    plain = re.fullmatch(r"[A-Za-z0-9_/][A-Za-z0-9_./-]*", text)
    return text if plain and text.lower() != "null" else json.dumps(text, ensure_ascii=False)


def flat(name: str, settings: Settings) -> dict[str, str]:
    """Converts nested or dotted keys to dotted keys with YAML values. `name` is that of the
    argument."""
    if not isinstance(settings, Mapping):
        raise InputError(f"{name}: {settings!r}; allowed: a dict of settings")
    keys = set(_saccade.setting_keys())
    found: dict[str, str] = {}

    def is_section(key: str) -> bool:
        return any(k.startswith(f"{key}.") for k in keys)

    def items(section: str, inside: Settings) -> Iterator[tuple[str, Any]]:
        for word, value in inside.items():
            if not isinstance(word, str):
                raise InputError(f"{name}: key {word!r}; allowed: text")
            key = section + word
            nested = isinstance(value, Mapping) and key not in keys and key not in _STUDY_KEYS
            if nested and (value or is_section(key)):
                yield from items(f"{key}.", value)
            else:
                yield key, value

    for key, value in items("", settings):
        if key in found:
            raise InputError(f"{name}: {key} is given twice")
        found[key] = to_yaml(key, value)
    return found


def as_overrides(name: str, settings: Settings | None) -> list[str]:
    """Settings as overrides of the command line, "key=value". `name` is that of the argument."""
    return [f"{key}={value}" for key, value in flat(name, settings or {}).items()]


def experiment(
    config: Config,
    overrides: Settings | None,
    images: Path | None,
    own: Mapping[str, Settings] | None = None,
) -> _saccade.ExperimentSource:
    """The configuration of `train` and `study`; `images` is the folder of the user's images. `own`:
    settings that follow from other arguments, by the name of the argument."""
    changed = flat("overrides", overrides or {})
    text, origin = None, "config"
    assignments: list[tuple[str, str, str]] = []  # key, value and its source
    if isinstance(config, Mapping):
        given = flat("config", config)
        text = "".join(f"{key}: {value}\n" for key, value in given.items() if key in _STUDY_KEYS)
        assignments = [(k, v, "config") for k, v in given.items() if k not in _STUDY_KEYS]
    elif isinstance(config, str | os.PathLike):
        origin = str(find_file(config))
    else:
        raise InputError(f"config: {config!r}; allowed: a file, the name of a preset, or a dict")
    follow = dict(own or {})
    if images is not None:
        follow["images"] = {"data.source": "idx", "data.path": str(images)}
    for name, settings in follow.items():
        for key, value in flat(name, settings).items():
            if key in changed:
                raise InputError(
                    f"overrides: {key} is given together with {name}; allowed: one of the two"
                )
            assignments.append((key, value, name))
    return _saccade.ExperimentSource(text, origin, assignments, [f"{k}={v}" for k, v in changed.items()])


def with_seed(overrides: Settings | None, seed: int | None) -> Settings | None:
    """Overrides with this seed added."""
    if seed is None:
        return overrides
    if "seed" in (overrides or {}):
        raise InputError("seed: also given in overrides; allowed: one of the two")
    return {**(overrides or {}), "seed": as_seed(seed)}


def as_called(function: str, *arguments: Any, **options: Any) -> str:
    """The call as Python source, without arguments that are None; arrays are shown by their
    shapes."""

    def as_text(value: Any) -> str:
        if isinstance(value, os.PathLike):
            return repr(os.fspath(value))
        if hasattr(value, "shape"):
            return f"<{value.dtype} {tuple(value.shape)}>"
        return repr(value)

    words = [as_text(a) for a in arguments]
    words += [f"{name}={as_text(v)}" for name, v in options.items() if v is not None]
    return f"saccade.{function}({', '.join(words)})"
