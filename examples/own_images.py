"""Your own images: from arrays to a trained agent and a recording of where it looks.

The images here are drawn: coloured discs, squares, triangles and crosses of 24 x 24 pixels. The
agent finds one of them on a canvas of 60 x 60 with five glimpses and classifies it. Takes about ten
seconds on 2 cores.

    python examples/own_images.py
"""

import argparse
from pathlib import Path

import numpy as np
import saccade

SIDE = 24
SHAPES = ["disc", "square", "triangle", "cross"]

# The settings that differ from the defaults. `data` is not set, because the arrays replace it.
CONFIG = {
    "name": "shapes",
    "scene": {"kind": "translated", "canvas": [60, 60]},
    "retina": {"patch_size": 8, "scales": 3},
    "model": {"core": "lstm", "hidden_size": 64, "glimpse_hidden": 64, "feature_size": 64},
    "attention.glimpse": {"kind": "hard_gaussian", "num_glimpses": 5, "first": "center"},
    "attention.glimpse.std": {"from": 0.3, "to": 0.05, "over": 0.6},
    "reinforce": {"reward": "gain", "trace": 0.7},
    "training": {"episodes": 300_000, "learning_rate": 0.002, "step_loss": 0.5},
    "evaluation": {"every": 100_000, "scenes": 1_000},
    "log.every": 10_000,
}


def draw(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (N, 24, 24, 3) of bytes and labels (N), which are indices into SHAPES."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, len(SHAPES), count)
    size = random.uniform(6, 10, (count, 1, 1))
    y, x = np.mgrid[:SIDE, :SIDE] - SIDE / 2 + 0.5
    x, y = x + random.uniform(-1, 1, size.shape), y + random.uniform(-1, 1, size.shape)
    masks = [
        x**2 + y**2 < size**2,
        np.maximum(abs(x), abs(y)) < 0.9 * size,
        (y < 0.8 * size) & (2 * abs(x) < y + size),
        (np.minimum(abs(x), abs(y)) < size / 3) & (np.maximum(abs(x), abs(y)) < size),
    ]
    mask = np.choose(labels[:, None, None], masks)
    colours = random.integers(80, 256, (count, 1, 1, 3))
    return (mask[..., None] * colours).astype(np.uint8), labels


def train(out: Path, episodes: int | None = None, count: int = 6_000) -> saccade.Run:
    images, labels = draw(count, seed=1)
    test_images, test_labels = draw(count // 6, seed=2)  # default: a random sixth of the images
    return saccade.train(
        CONFIG,
        {} if episodes is None else {"training.episodes": episodes},
        images=images,
        labels=labels,
        test_images=test_images,
        test_labels=test_labels,
        out=out,
        callback=show,
    )


def show(row: dict) -> None:
    if "valid/error" in row:
        print(f"{row['episodes']:7} episodes: {100 * row['valid/error']:5.2f} % wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/shapes"))
    options = parser.parse_args()

    run = train(options.out)
    figures = saccade.evaluate(run)
    print(f"test: {100 * figures['test/error']:.2f} % wrong; ", end="")
    print(f"{100 * figures['test/error_random']:.2f} % with random locations")

    # The arrays are stored in the cache folder, so `saccade eval`, `record` and `compare` can read
    # the run, too.
    recording = saccade.record(run.agent(), scenes=6)
    print(f"where it looks: {recording.save(run.path / 'looks.gif')}")


if __name__ == "__main__":
    main()
