#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets, and the run that fuzz_run changes:
tests/fuzz/make_seeds.py [PROGRAM]. Needs NumPy and OpenCV."""

import gzip
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import cv2
import numpy as np

HERE = Path(__file__).parent
PROGRAM = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/saccade").absolute()

TINY = """\
name: tiny
data: {source: idx, path: data}
scene: {canvas: [8, 9], num_distractors: 0}
retina: {patch_size: 3, scales: 1}
model: {core: rnn, hidden_size: 6, glimpse_hidden: 7, location_hidden: 4, feature_size: 8}
attention: {glimpse: {num_glimpses: 2, std: 0.1}}
training: {episodes: 192, batch_size: 16, lane_size: 4}
evaluation: {every: 64, scenes: 150, rollouts: 2}
log: {every: 64}
"""
OVERRIDES = """
# overrides
training.learning_rate={from: 0.01, to: 1e-4}
scene.canvas=[28, 30]
attention.glimpse.kind=soft_grid
vary={model.core: [rnn, gru]}
seeds=[1, 7]
"""


def put(target: str, name: str, data: bytes | str) -> None:
    folder = HERE / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


def idx(values: np.ndarray) -> bytes:
    magic = 0x800 + values.ndim
    return struct.pack(f">{values.ndim + 1}I", magic, *values.shape) + values.tobytes()


def digits(count: int) -> tuple[np.ndarray, np.ndarray]:
    n, row, col = np.indices((count, 4, 4))
    images = np.where((n % 3 * row + col) % 3 == 0, 120, 7 * (n % 8)).astype(np.uint8)
    return images, (np.arange(count) % 3).astype(np.uint8)


def make_run(folder: Path) -> None:
    (folder / "data").mkdir()
    for split, count in (("train", 60), ("t10k", 20)):
        images, labels = digits(count)
        (folder / f"data/{split}-images-idx3-ubyte").write_bytes(idx(images))
        (folder / f"data/{split}-labels-idx1-ubyte").write_bytes(idx(labels))
    (folder / "tiny.yaml").write_text(TINY)
    subprocess.run([PROGRAM, "run", "tiny.yaml", "--out", "run"], cwd=folder, check=True)
    run = HERE / "run"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir()
    for name in ("metrics.csv", "test.json", "summary.json", "meta.json"):
        shutil.copy(folder / "run" / name, run)
    (run / "config.yaml").write_text(TINY)  # the one it wrote has every value, and takes long
    (run / "command.txt").write_text("saccade run tiny.yaml\n")
    (run / "failed.txt").write_text("the disk is full\n")
    files = ("metrics.csv", "test.json", "summary.json", "meta.json", "config.yaml", "command.txt")
    for number, name in enumerate((*files, "failed.txt")):
        for runs in "01":
            put("run", f"{name}-{runs}", f"{runs}{number}{(run / name).read_text()}")


def checkpoint(metadata: dict[str, str], shapes: dict[str, tuple[int, int]]) -> bytes:
    header: dict[str, object] = {"__metadata__": metadata}
    end = 0
    for name, (rows, cols) in shapes.items():
        begin, end = end, end + 4 * rows * cols
        header[name] = {"dtype": "F32", "shape": [rows, cols], "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(end)


def make_checkpoints() -> None:
    metadata = {"format": "saccade checkpoint 1", "config": "name: a", "updates": "7"}
    shapes = {"ema/a.weight": (2, 3), "ema/a.bias": (1, 3)}
    put("checkpoint", "whole", checkpoint(metadata, shapes))
    put("checkpoint", "none_shared", checkpoint(metadata, {"ema/b": (1, 1)}))
    put("checkpoint", "no_metadata", checkpoint({}, {"a.weight": (2, 3), "a.bias": (1, 3)}))
    put("checkpoint", "empty", checkpoint(metadata | {"crc32": "00000000"}, {}))


def make_idx() -> None:
    images, labels = digits(2)
    for kind, packed in ((0, bytes), (1, lambda data: gzip.compress(data, mtime=0)), (2, bytes)):
        put("idx", f"images-{kind}", chr(ord("0") + 4 * kind).encode() + packed(idx(images)))
        put("idx", f"labels-{kind}", chr(ord("1") + 4 * kind).encode() + packed(idx(labels)))
    colour = np.repeat(images[..., None], 3, axis=3)
    put("idx", "colour", b"2" + idx(colour))


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(kind: int, depth: int, interlaced: int, rows: bytes, *chunks: bytes) -> bytes:
    """A 4 x 4 image. `rows`: those of each pass, each after the number of its filter."""
    header = struct.pack(">IIBBBBB", 4, 4, depth, kind, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [chunk(b"IHDR", header), *chunks, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")])


def exif(orientation: int) -> bytes:
    return struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x112, 3, 1, orientation, 0, 0)


def turned(jpeg: bytes) -> bytes:
    data = b"Exif\0\0" + exif(6)
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(data)) + data + jpeg[2:]


def inked(grey: bytes) -> bytes:
    """A grey JPEG file that says it is CMYK; the blocks of three inks are missing."""
    frame, scan = grey.index(b"\xff\xc0"), grey.index(b"\xff\xda")
    inks = range(1, 5)
    return (grey[:frame] + b"\xff\xc0\0\x14" + grey[frame + 4:frame + 9] + b"\x04" +
            b"".join(bytes([i, 0x11, 0]) for i in inks) + grey[frame + 13:scan] +
            b"\xff\xda\0\x0e\x04" + b"".join(bytes([i, 0]) for i in inks) + grey[scan + 7:])


def make_images() -> None:
    grey = np.arange(16, dtype=np.uint8).reshape(4, 4)
    colour = np.dstack([grey, grey, 255 - grey])
    deep = grey.astype(np.uint16) * 4000
    for name, pixels in (("grey", grey), ("colour", colour), ("deep", deep)):
        put("images", f"{name}.png", b"00" + cv2.imencode(".png", pixels)[1].tobytes())
    put("images", "colour.jpg", b"11" + cv2.imencode(".jpg", colour)[1].tobytes())
    put("images", "progressive.jpg", b"11" + cv2.imencode(
        ".jpg", colour, [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])[1].tobytes())
    put("images", "turned.jpg", b"11" + turned(cv2.imencode(".jpg", colour)[1].tobytes()))
    put("images", "inks.jpg", b"11" + inked(cv2.imencode(".jpg", grey)[1].tobytes()))
    put("images", "palette.png", b"00" + png(3, 2, 0, b"\0\x1b\0\xe4\0\x1b\0\xe4",
                                             chunk(b"PLTE", bytes(range(12))), chunk(b"tRNS", b"\0")))
    passes = bytes(x for width, height in ((1, 1), (1, 1), (2, 1), (2, 2), (4, 2))
                   for x in (bytes([0]) + bytes(range(4 * width))) * height)
    put("images", "interlaced.png", b"00" + png(4, 16, 1, passes, chunk(b"eXIf", exif(8))))
    put("images", "bmp", b"00" + cv2.imencode(".bmp", grey)[1].tobytes())


def element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def variable(name: str, kind: int, storage: int, shape: tuple[int, ...], data: bytes) -> bytes:
    return element(14, element(6, struct.pack("<II", kind, 0)) +
                   element(5, struct.pack(f"<{len(shape)}i", *shape)) +
                   element(1, name.encode()) + element(storage, data))


def make_svhn() -> None:
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    x = variable("X", 9, 2, (32, 32, 3, 1), bytes(32 * 32 * 3))
    y = variable("y", 9, 2, (1, 1), b"\x0a")
    packed = [struct.pack("<II", 15, len(data)) + data for data in map(zlib.compress, (x, y))]
    put("svhn", "packed", b"0" + header + b"".join(packed))
    put("svhn", "doubles", b"0" + header + packed[0] +
        variable("y", 6, 9, (1, 1), struct.pack("<d", 3)))
    put("svhn", "x", b"1" + x)
    put("svhn", "y", b"0" + header + y)


def make_cifar10() -> None:
    put("cifar10", "names", b"0a b c d e f g h i j\n")
    put("cifar10", "train", b"1" + bytes(3073))
    put("cifar10", "test", b"2\x09" + bytes(3072))


def make_configs() -> None:
    for name in ("quickstart", "hard_vs_soft", "digits_to_words", "catch", "bag", "draw60"):
        put("config", name, (HERE / f"../../experiments/{name}.yaml").read_text())
    put("config", "overrides", TINY + OVERRIDES)


shutil.rmtree(HERE / "seeds", ignore_errors=True)
with tempfile.TemporaryDirectory() as scratch:
    make_run(Path(scratch))
for make in (make_configs, make_checkpoints, make_idx, make_images, make_svhn,
             make_cifar10):
    make()
