"""Digit sets that others publish."""

from __future__ import annotations

import os
from pathlib import Path

from . import _saccade
from ._arguments import as_flag, as_path
from ._listening import DownloadListener

__all__ = ["download", "names"]


def names() -> list[str]:
    """Those that `download` knows."""
    return _saccade.published_sets()


def download(
    name: str,
    out: str | os.PathLike[str] | None = None,
    *,
    mirror: str | None = None,
    force: bool = False,
    progress: bool = False,
) -> Path:
    """Downloads a digit set, as `saccade data` does, and returns its folder. Files that are there
    are left; what was stopped goes on.

    name: one of `names`, as the setting `data.source` has it.
    out: the folder; by default where trainings look for it, in the cache folder.
    mirror: http://... or https://...: a folder that has the files, in place of where they are
        published.
    force: replace files that are not as published.
    progress: show a bar (needs tqdm). Notes go to the logger "saccade".
    """
    return _saccade.download(
        as_path("name", name),
        None if out is None else Path(out),
        "" if mirror is None else as_path("mirror", mirror),
        as_flag("force", force),
        DownloadListener(progress),
    )
