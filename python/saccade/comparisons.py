"""Comparisons of trained agents."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _saccade
from ._arguments import as_flag, as_integer, as_number
from ._extras import extra
from ._html import table
from ._own_parts import OwnParts
from ._settings import Settings, as_called

if TYPE_CHECKING:
    import pandas


class Comparison:
    """The document of `saccade compare --json`, and the path of the report.

    `report`: the page with charts and a recording; compare.md and compare.csv are beside it.
    """

    def __init__(self, document: dict[str, Any], report: Path) -> None:
        self._document = document
        self.report = report

    def to_dict(self) -> dict[str, Any]:
        """The variants with their figures by metric name (shares in [0, 1], None if unknown), and
        what was left out. The ends of intervals have the suffixes _low and _high.
        `not_clearly_better_than` names the controls (test/error_shuffled, ...) that a variant's
        error is not clearly below: attention does nothing there that these could not. `verdict` is
        the conclusion in sentences. Intervals are over seeds, except those of the single runs in
        `runs`, which are over the scenes of the test."""
        return copy.deepcopy(self._document)

    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row per variant (the index): the figures, and the settings in which the
        variants differ."""
        rows = [
            {k: float("nan") if v is None else v for k, v in variant.items() if _is_figure(v)}
            | {key: _value(text) for key, text in variant.get("settings", {}).items()}
            for variant in self._document["variants"]
        ]
        return extra("pandas", "pandas").DataFrame(rows).set_index("variant")

    def _repr_html_(self) -> str:
        variants = self._document["variants"]
        return table(
            [title for title, _ in _COLUMNS],
            [[text(variant) for _, text in _COLUMNS] for variant in variants],
        )

    def __repr__(self) -> str:
        names = ", ".join(
            f"{v['variant']} {100 * v['test/error']:.2f} %" for v in self._document["variants"]
        )
        return f"Comparison({names}; {self.report})"


def compare(
    *folders: str | os.PathLike[str],
    tuned_by: str | Sequence[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    stop_error: float | None = None,
    stop_looks: float | None = None,
    other_scenes: Settings | None = None,
    scenes: Any = None,
    valid_scenes: Any = None,
    test_scenes: Any = None,
    world: Callable[[int], Any] | None = None,
    threads: int = 0,
) -> Comparison:
    """Compares runs and writes tables, charts, a recording and a report, as `saccade compare` does.

    folders: folders of runs or studies, Runs, Studies, Agents, or names of trained agents.
    tuned_by: keys that were tuned. Among runs that differ only in these keys, the one with the
        lowest validation error represents the variant.
    out: the folder to write; by default comparison/ in the given folder, or in the current folder
        if several, a trained agent by its name, other scenes or a world are given.
    force: overwrite an older comparison; without it, an existing one is an InputError.
    stop_error: each agent that answers one class after several looks is also shown as it stops when
        it is surer than a threshold, which is chosen on the validation scenes: that of the fewest
        looks with at most this error, a share; by default the error of all looks,
    stop_looks: or that of the least error with at most so many mean looks.
    other_scenes: test every run again, on other scenes than it was trained on, as `evaluate` does.
    scenes, valid_scenes, test_scenes, world: as for `train`: test every run again, likewise, on your
        own, and record the agents on these scenes.
    threads: the number of threads; 0 for all processors. The results do not depend on it.
    """
    paths = [Path(folder) for folder in folders]
    error, looks = (
        None if value is None else as_number(name, value)
        for name, value in (("stop_error", stop_error), ("stop_looks", stop_looks))
    )
    own = OwnParts(scenes, valid_scenes, test_scenes, world)
    command = as_called(
        "compare",
        *paths,
        tuned_by=tuned_by,
        out=out,
        stop_error=error,
        stop_looks=looks,
        other_scenes=other_scenes,
        **own.named,
    )
    there = None if out is None else Path(out)
    overrides = own.overrides(other_scenes)
    with own.used("the comparison was stopped"):
        document, report = _saccade.compare(
            paths,
            _keys(tuned_by),
            there,
            as_flag("force", force),
            command,
            error,
            looks,
            overrides,
            own,
            as_integer("threads", threads, 0, 1024),
        )
    return Comparison(document, report)


def compared(
    folders: Sequence[Path], tuned_by: str | Sequence[str] | None, report: Path
) -> Comparison:
    """Compares without writing anything; `report` is the path of an existing report."""
    return Comparison(_saccade.comparison(folders, _keys(tuned_by)), report)


def _keys(tuned_by: str | Sequence[str] | None) -> list[str]:
    keys = [tuned_by] if isinstance(tuned_by, str) else list(tuned_by or ())
    return [key for each in keys for key in each.split(",") if key]


def _is_figure(value: Any) -> bool:
    return value is None or isinstance(value, int | float | str)


def _value(text: str) -> Any:
    """The value of a setting that is given as YAML."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _figure(variant: dict[str, Any], name: str, scale: float, form: str) -> str:
    value, low, high = (variant.get(key) for key in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return "-"
    text = format(scale * value, form)
    if low is None or high is None:
        return text
    return f"{text} [{scale * low:{form}}, {scale * high:{form}}]"


_COLUMNS: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
    ("variant", lambda v: v["variant"]),
    ("seeds", lambda v: f"{v['seeds']:.0f}"),
    ("error %", lambda v: _figure(v, "test/error", 100, ".2f")),
    ("to the first", lambda v: _figure(v, "difference", 100, "+.2f")),
    ("P(better)", lambda v: _figure(v, "improvement_probability", 1, ".2f")),
    ("shuffled %", lambda v: _figure(v, "test/error_shuffled", 100, ".2f")),
    ("centre %", lambda v: _figure(v, "test/error_center", 100, ".2f")),
    ("random %", lambda v: _figure(v, "test/error_random", 100, ".2f")),
    ("on digit %", lambda v: _figure(v, "attention/on_target", 100, ".1f")),
    ("episodes", lambda v: f"{v['episodes']:.0f}"),
]
