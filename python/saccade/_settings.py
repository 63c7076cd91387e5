"""How an experiment is said from Python: a file, a preset or a dict, and overrides."""

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
    """The names of the experiments that come with the package."""
    return sorted(path.stem for path in _PRESETS.glob("*.yaml"))


def preset_file(name: str) -> Path:
    """Where the preset of that name is, or would be."""
    return _PRESETS / f"{name}.yaml"


def trained_agents() -> list[str]:
    """The names of the trained agents that come with the package; `load` takes them."""
    return _saccade.shipped_agents()


def find_file(config: str | os.PathLike[str]) -> Path:
    """A file, or else the preset of that name: "quickstart", "experiments/quickstart.yaml"."""
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
        f"config: '{config}' is no file and no preset; allowed: the path of a YAML file, one of "
        f"{', '.join(presets())}, or a dict"
    )


def to_yaml(key: str, value: Any) -> str:
    """A value as YAML that says exactly this. `key` names it where it cannot be said."""
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
    # 1e6 is as good a count as 1_000_000.
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _text(text: str) -> str:
    plain = re.fullmatch(r"[A-Za-z0-9_/][A-Za-z0-9_./-]*", text)
    return text if plain and text.lower() != "null" else json.dumps(text, ensure_ascii=False)


def flat(name: str, settings: Settings) -> dict[str, str]:
    """Nested or dotted keys as dotted keys with their values as YAML. `name` is the argument's."""
    if not isinstance(settings, Mapping):
        raise InputError(f"{name}: {settings!r}; allowed: a dict of settings")
    keys = set(_saccade.setting_keys())
    found: dict[str, str] = {}

    def is_section(key: str) -> bool:
        return any(k.startswith(f"{key}.") for k in keys)

    def items(section: str, inside: Settings) -> Iterator[tuple[str, Any]]:
        for word, value in inside.items():
            if not isinstance(word, str):
                raise InputError(f"{name}: the key {word!r}; allowed: text")
            key = section + word
            nested = isinstance(value, Mapping) and key not in keys and key not in _STUDY_KEYS
            if nested and (value or is_section(key)):
                yield from items(f"{key}.", value)
            else:
                yield key, value

    for key, value in items("", settings):
        if key in found:
            raise InputError(f"{name}: {key} is said twice")
        found[key] = to_yaml(key, value)
    return found


def experiment(config: Config, overrides: Settings | None, images: Path | None) -> _saccade.Said:
    """What `train` and `study` are told; `images` is where the user's own are kept."""
    said = flat("overrides", overrides or {})
    text, origin = None, "config"
    assignments: list[tuple[str, str, str]] = []  # key, value and who said so
    if isinstance(config, Mapping):
        given = flat("config", config)
        text = "".join(f"{key}: {value}\n" for key, value in given.items() if key in _STUDY_KEYS)
        assignments = [(k, v, "config") for k, v in given.items() if k not in _STUDY_KEYS]
    elif isinstance(config, str | os.PathLike):
        origin = str(find_file(config))
    else:
        raise InputError(f"config: {config!r}; allowed: a file, the name of a preset, or a dict")
    if images is not None:
        for key in ("data.source", "data.path"):
            if key in said:
                raise InputError(f"overrides: {key} beside images; allowed: one of the two")
        assignments += [("data.source", "idx", "images"), ("data.path", str(images), "images")]
    return _saccade.Said(text, origin, assignments, [f"{k}={v}" for k, v in said.items()])


def with_seed(overrides: Settings | None, seed: int | None) -> Settings | None:
    """Overrides with this seed, too."""
    if seed is None:
        return overrides
    if "seed" in (overrides or {}):
        raise InputError("seed: also among overrides; allowed: one of the two")
    return {**(overrides or {}), "seed": as_seed(seed)}


def as_called(function: str, *arguments: Any, **options: Any) -> str:
    """The call as it could have been typed, without what is None; arrays by their shapes."""

    def spoken(value: Any) -> str:
        if isinstance(value, os.PathLike):
            return repr(os.fspath(value))
        if hasattr(value, "shape"):
            return f"<{value.dtype} {tuple(value.shape)}>"
        return repr(value)

    words = [spoken(a) for a in arguments]
    words += [f"{name}={spoken(v)}" for name, v in options.items() if v is not None]
    return f"saccade.{function}({', '.join(words)})"
