"""The encoder of .mp4 videos in installations without the module saccade_mp4.so, as from a wheel."""

import importlib.util
import os
from contextlib import suppress
from pathlib import Path


def choose_encoder() -> None:
    """Names the program of the package imageio-ffmpeg in SACCADE_FFMPEG, unless there is another encoder of the user's or ours."""
    has_module = any(Path(__file__).parent.glob("saccade_mp4*"))
    if "SACCADE_FFMPEG" in os.environ or has_module or not importlib.util.find_spec("imageio_ffmpeg"):
        return
    import imageio_ffmpeg

    with suppress(RuntimeError):  # a package without a program for this system
        os.environ["SACCADE_FFMPEG"] = imageio_ffmpeg.get_ffmpeg_exe()
