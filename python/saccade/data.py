"""Published datasets."""

from __future__ import annotations

import os
from pathlib import Path

from . import _saccade
from ._arguments import as_flag, as_path
from ._listening import DownloadListener

__all__ = ["download", "names"]


def names() -> list[str]:
    """The names of the datasets that `download` accepts."""
    return _saccade.published_sets()


def download(
    name: str,
    out: str | os.PathLike[str] | None = None,
    *,
    mirror: str | None = None,
    force: bool = False,
    progress: bool = False,
) -> Path:
    """Downloads a dataset, as `saccade data` does, and returns its folder. Existing valid files are
    kept, and interrupted downloads continue.

    name: one of `names`, a value of the setting `data.source`.
    out: the folder; by default the one in the cache folder where runs look for it.
    mirror: a URL (http://... or https://...) of a folder with the files, instead of the
        publisher's.
    force: replace files that differ from the published ones.
    progress: show a progress bar (needs tqdm). Notes go to the logger "saccade".
    """
    return _saccade.download(
        as_path("name", name),
        None if out is None else Path(out),
        "" if mirror is None else as_path("mirror", mirror),
        as_flag("force", force),
        DownloadListener(progress),
    )
