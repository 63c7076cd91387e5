"""Keyword arguments that are settings of a configuration."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from .. import _saccade
from .._saccade import InputError
from .._settings import to_yaml

_SECTIONS = ("data", "scene", "retina")


def setting_keys() -> list[str]:
    """The settings of environments."""
    return [key for key in _saccade.setting_keys() if key.split(".")[0] in _SECTIONS]


def _known() -> list[str]:
    """The settings of environments, and the sections that contain them."""
    keys = setting_keys()
    sections = dict.fromkeys(key.rpartition(".")[0] for key in keys)
    return [*dict.fromkeys((*_SECTIONS, *sections)), *keys]


def _key_of(name: str, known: list[str], parameters: Collection[str], called: str) -> str:
    """The only key that ends with `name`."""
    if name in known:
        return name
    found = [key for key in known if key.endswith("." + name)]
    if not found:
        nearest = _saccade.nearest_key(name, [*parameters, *known])
        # Python's own wording, which libraries look for.
        raise TypeError(
            f"{called}() got an unexpected keyword argument '{name}'. Did you mean '{nearest}'?"
        )
    if len(found) > 1:
        raise InputError(f"argument '{name}' is ambiguous; allowed: {', '.join(found)}")
    return found[0]


def _leaves(key: str, value: object) -> Iterator[tuple[str, object]]:
    """The settings in a nested dictionary of settings and sections."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(f"{key}.{name}", inner)
    else:
        yield key, value


def settings_of(
    base: Mapping[str, str],
    given: Mapping[str, object],
    parameters: Collection[str],
    called: str,
) -> list[str]:
    """`key=value` strings in YAML: those of `base` (full keys), then those of `given`.

    `given` has settings by their last word or their full key, and sections as dictionaries. Raises
    TypeError for an unknown name, as a call of `called` would, with the nearest name among the
    settings and `parameters`; InputError if a name is ambiguous or a setting is given twice.
    """
    known = _known()
    chosen: dict[str, object] = {}
    for name, value in given.items():
        key = _key_of(name, known, parameters, called)
        if key == "data" and isinstance(value, str):
            value = {"source": value}
        is_section = any(other.startswith(key + ".") for other in known)
        if is_section and not isinstance(value, Mapping):
            raise InputError(f"{name}: {value!r}; allowed: a dictionary of settings")
        for leaf, inner in _leaves(key, value):
            if leaf in chosen:
                raise InputError(f"{leaf}: given twice")
            chosen[leaf] = inner
    texts = {key: to_yaml(key, value) for key, value in chosen.items()}
    return [f"{key}={value}" for key, value in {**base, **texts}.items()]
