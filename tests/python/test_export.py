"""`saccade export`: the weights as .npz, and the agent as ONNX with the same results."""

import json
import pathlib
import struct
import subprocess
import zlib
from typing import Any

import numpy as np
import pytest

import saccade

SIDES = (30, 34)  # rows, cols
PATCH, SCALES = 6, 2
SMALL = {
    "name": "small",
    "scene": {"kind": "translated", "canvas": list(SIDES)},
    "retina": {"patch_size": PATCH, "scales": SCALES},
    "model": {
        "hidden_size": 12,
        "glimpse_hidden": 10,
        "location_hidden": 6,
        "feature_size": 14,
        "locator_hidden": 9,
    },
    "attention.glimpse.num_glimpses": 4,
    "training": {"episodes": 64, "batch_size": 32, "lane_size": 32},
    "evaluation": {"every": 64, "scenes": 20, "rollouts": 1},
}
GRID = {"attention.glimpse.grid": [3, 3], "attention.glimpse.stride": 7}
HARD_GRID = {"attention.glimpse.kind": "hard_categorical", **GRID}
STEPS = {
    "attention.glimpse.kind": "hard_categorical",
    "attention.glimpse.moves": "relative",
    "attention.glimpse.max_step": 0.3,
}
SOFT_GRID = {"attention.glimpse.kind": "soft_grid", **GRID}
ATTEND = {"attention.hidden.kind": "attend"}
CONV = {"model.glimpse_network": "conv", "model.glimpse_filters": 3, "model.glimpse_kernel": 3}
RESIDUAL = {"model.glimpse_network": "residual", "model.glimpse_filters": 3}
AT_ONCE = {"attention.glimpse.kind": "whole", "attention.glimpse.order": "at_once"}
SCALED = {"data.mean": 0.2, "data.deviation": 0.5}
CONTEXT = {"model.context": "thumbnail", "model.context_size": 13}
ZOOM = {"attention.glimpse.zoom": {"from": 1, "to": 3}}
LOCAL = {**ATTEND, "attention.hidden.area": "local", "attention.hidden.window": 1}

# Every core, glimpse mechanism, gate and attention over hidden states; the differences to SMALL.
AGENTS = {
    "rnn": {},
    "lstm": {"model.core": "lstm"},
    "gru": {"model.core": "gru"},
    "feedforward": {"model.core": "feedforward"},
    "attention": {"model.core": "attention", "model.heads": 3, "model.depth": 2},
    "conv": {**CONV, "model.glimpse_stride": 2},
    "residual": RESIDUAL,
    "residual, deep": {**RESIDUAL, "model.glimpse_stages": 3, "model.glimpse_blocks": 2},
    "residual, of candidates": {**RESIDUAL, **SOFT_GRID},
    "pixels scaled, residual": {**SCALED, **RESIDUAL},
    "pixels scaled": {**SCALED, "data.deviation": [0.5], **CONTEXT},
    "pixels scaled, conv": {**SCALED, **CONV},
    "pixels scaled, of candidates": {**SCALED, **SOFT_GRID},
    "whole, pixels scaled": {**SCALED, **AT_ONCE},
    "pixels scaled, cnn": {**SCALED, "model.kind": "cnn"},
    "spread": {"attention.glimpse.std": 0.3, "attention.glimpse.spread": 1},
    "learned std": {
        "attention.glimpse.std": 0.3,
        "attention.glimpse.learn_std": True,
        "attention.glimpse.spread": 1,
    },
    "first center": {"attention.glimpse.first": "center"},
    "first learned": {"attention.glimpse.first": "learned"},
    "context": CONTEXT,
    "context places the first": {**CONTEXT, "attention.glimpse.first": "learned"},
    "max pooling": {"retina.pooling": "max"},
    "mlp critic": {"reinforce.critic": "mlp", "reinforce.critic_hidden": 5},
    "smooth point": {"attention.glimpse.kind": "soft_point"},
    "relative": {"attention.glimpse.moves": "relative", "attention.glimpse.max_step": 0.3},
    "relative, first learned": {
        "attention.glimpse.moves": "relative",
        "attention.glimpse.first": "learned",
        "attention.glimpse.std": 0.3,
        "attention.glimpse.spread": 1,
    },
    "relative scan": {"attention.glimpse.moves": "relative", "attention.glimpse.kind": "scan"},
    "zoom": ZOOM,
    "zoom, first center": {**ZOOM, "attention.glimpse.first": "center"},
    "zoom, first learned": {
        **ZOOM,
        "attention.glimpse.first": "learned",
        "attention.glimpse.std": 0.3,
        "attention.glimpse.spread": 1,
    },
    "zoom, smooth point": {**ZOOM, "attention.glimpse.kind": "soft_point"},
    "zoom, relative": {**ZOOM, "attention.glimpse.moves": "relative"},
    "zoom, scan": {**ZOOM, "attention.glimpse.kind": "scan"},
    "zoom, relative center": {
        **ZOOM,
        "attention.glimpse.moves": "relative",
        "attention.glimpse.kind": "center",
    },
    "center": {"attention.glimpse.kind": "center"},
    "scan": {"attention.glimpse.kind": "scan"},
    "random": {"attention.glimpse.kind": "random"},
    "candidates": HARD_GRID,
    "candidates from the center": {**HARD_GRID, "attention.glimpse.first": "center"},
    "candidates, first learned": {**HARD_GRID, "attention.glimpse.first": "learned"},
    "candidates spread": {**HARD_GRID, "attention.glimpse.spread": 1},
    "candidates narrowly spread": {**HARD_GRID, "attention.glimpse.spread": 0.4},
    "candidates by content": {**HARD_GRID, "attention.glimpse.addressing": "content"},
    "candidates with a context": {**HARD_GRID, **CONTEXT},
    "candidates, relative": STEPS,
    "candidates, relative, from the center": {**STEPS, "attention.glimpse.first": "center"},
    "candidates, relative, first learned": {**STEPS, "attention.glimpse.first": "learned"},
    "grid": SOFT_GRID,
    "grid, first random": {**SOFT_GRID, "attention.glimpse.first": "random"},
    "grid by location": {**SOFT_GRID, "attention.glimpse.addressing": "location"},
    "grid of pixels": {**SOFT_GRID, "attention.glimpse.expect": "pixels"},
    "grid, additive": {**SOFT_GRID, "attention.glimpse.score": "additive"},
    "grid, temperature": {**SOFT_GRID, "attention.glimpse.temperature": 0.5},
    "window": {"attention.glimpse.kind": "soft_gaussian", "attention.glimpse.filters": 5},
    "stop sampled": {"attention.glimpse.stop": "sampled"},
    "stop expected": {"attention.glimpse.stop": "expected"},
    "gate": {"attention.input.kind": "gate", "attention.input.gain": 14},
    "gate without a state": {
        "attention.input.kind": "gate",
        "attention.input.learn_alpha": True,
        "model.core": "feedforward",
    },
    "mean": {"attention.hidden.kind": "mean"},
    "masked mean": {"attention.hidden.kind": "mean", "attention.hidden.mask": "0101"},
    "self": {"attention.hidden.kind": "self", "attention.hidden.hops": 2},
    "attend": ATTEND,
    "attend, masked": {**ATTEND, "attention.hidden.mask": "0110"},
    "attend, dot, context": {
        **ATTEND,
        "attention.hidden.score": "dot",
        "attention.hidden.output": "context",
        "attention.hidden.query": "mean",
    },
    "attend, scaled_dot": {**ATTEND, "attention.hidden.score": "scaled_dot"},
    "attend, additive": {**ATTEND, "attention.hidden.score": "additive"},
    "attend, no query": {
        **ATTEND,
        "attention.hidden.score": "location_free",
        "attention.hidden.query": "none",
    },
    "local": LOCAL,
    "local, masked": {**LOCAL, "attention.hidden.mask": "1001"},
    "local, predicted": {**LOCAL, "attention.hidden.position": "predicted"},
    "whole": {"attention.glimpse.kind": "whole", "attention.glimpse.size": [6, 9]},
    "whole at once": AT_ONCE,
    "mlp": {"model.kind": "mlp", "model.canvas_hidden": 11},
    "cnn": {"model.kind": "cnn", "model.channels": [3, 4], "model.kernel_size": 3},
}
NEVER_UNROLLED = ("random", "stop-sampled", "stop-expected")


def factor(name: str) -> float:
    """A larger factor for the weights that place the glimpses, which start near zero."""
    if name.endswith((".mean.weight", ".logits.weight", ".score.weight", ".score.v")):
        return 40
    return 4 if name.endswith(".window.weight") else 1.5


def crc32(header: dict[str, Any], numbers: np.ndarray) -> str:
    """The checksum of metadata and tensors in the order of names, as in nn/safetensors.cpp."""
    crc = 0
    for key, value in sorted(header["__metadata__"].items()):
        if key != "crc32":
            crc = zlib.crc32(f"{key}\0{value}\0".encode(), crc)
    for name in sorted(header.keys() - {"__metadata__"}):
        begin, end = (place // 4 for place in header[name]["data_offsets"])
        shape = ",".join(map(str, header[name]["shape"]))
        crc = zlib.crc32(f"{name}\0{shape}\0".encode(), crc)
        crc = zlib.crc32(numbers[begin:end].tobytes(), crc)
    return f"{crc:08x}"


def enlarge(checkpoint: pathlib.Path) -> None:
    """Enlarges the weights: after a short run they hardly move the glimpse or separate images."""
    old = checkpoint.read_bytes()
    size = struct.unpack("<Q", old[:8])[0]
    header = json.loads(old[8 : 8 + size])
    numbers = np.frombuffer(old[8 + size :], np.float32).copy()
    for name, tensor in header.items():
        begin, end = (place // 4 for place in tensor.get("data_offsets", (0, 0)))
        numbers[begin:end] *= factor(name)
    header["__metadata__"]["crc32"] = crc32(header, numbers)
    text = json.dumps(header).encode()
    checkpoint.write_bytes(struct.pack("<Q", len(text)) + text + numbers.tobytes())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("exported")


@pytest.fixture(scope="module")
def small(folder: pathlib.Path) -> dict[str, object]:
    """A configuration with few, random digits, which need no generation."""
    rng = np.random.default_rng(0)
    data = folder / "data"
    data.mkdir()
    for part, count in (("train", 60), ("t10k", 20)):
        pixels = rng.integers(0, 256, (count, 12, 12), dtype=np.uint8)
        labels = (np.arange(count) % 10).astype(np.uint8)
        images = struct.pack(">4I", 0x803, count, 12, 12) + pixels.tobytes()
        (data / f"{part}-images-idx3-ubyte").write_bytes(images)
        results = struct.pack(">2I", 0x801, count) + labels.tobytes()
        (data / f"{part}-labels-idx1-ubyte").write_bytes(results)
    return {**SMALL, "data": {"source": "idx", "path": str(data)}}


@pytest.fixture(params=AGENTS)
def run(
    request: pytest.FixtureRequest, folder: pathlib.Path, small: dict[str, object]
) -> pathlib.Path:
    out = folder / request.param.replace(" ", "-").replace(",", "")
    return trained(out, {**small, **AGENTS[request.param]})


def trained(out: pathlib.Path, config: dict[str, object]) -> pathlib.Path:
    """The folder of a run whose weights are enlarged; it is trained if there is none yet."""
    if not out.exists():
        saccade.train(config, out=out, threads=1)
        enlarge(out / "checkpoints/best.safetensors")
    return out


def some_images(count: int) -> np.ndarray:
    rows, cols = SIDES
    size = (count, rows // 2, cols // 2)
    coarse = np.random.default_rng(3).integers(0, 256, size, dtype=np.uint8)
    return coarse.repeat(2, axis=1).repeat(2, axis=2)


def exported(program: str, run: pathlib.Path, *words: str):
    """A session of ONNX Runtime with the exported agent."""
    runtime = pytest.importorskip("onnxruntime")
    file = run / "agent.onnx"
    command = [program, "export", str(run), "--onnx", str(file), "--force", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])


def glimpses_at(images: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The glimpses of images (N, rows, cols) at places (G, 2), with box averages: (N, G, D)."""
    margin = 2 * max(SIDES)
    padded = np.pad(images / 255.0, ((0, 0), (margin, margin), (margin, margin)))
    seen = []
    for x, y in places:
        scales = []
        for zoom in (2**s for s in range(SCALES)):
            side = PATCH * zoom
            row, col = (
                int(np.floor((place + 1) / 2 * length - side / 2 + 0.5 + 1e-6)) + margin
                for place, length in ((y, SIDES[0]), (x, SIDES[1]))
            )
            square = padded[:, row : row + side, col : col + side]
            boxes = square.reshape(len(images), PATCH, zoom, PATCH, zoom).mean(axis=(2, 4))
            scales.append(boxes.reshape(len(images), -1))
        seen.append(np.concatenate(scales, axis=1))
    return np.stack(seen, axis=1).astype(np.float32)


def shrunk(images: np.ndarray, rows: int, cols: int) -> np.ndarray:
    """Area averages (N, rows, cols) of images."""

    def shares(to: int, length: int) -> np.ndarray:
        edges = np.arange(to + 1) * length / to
        pixels = np.arange(length)
        upper = np.minimum(edges[1:, None], pixels + 1)
        lower = np.maximum(edges[:-1, None], pixels)
        return np.maximum(upper - lower, 0) * to / length

    by_row, by_col = shares(rows, SIDES[0]), shares(cols, SIDES[1])
    return np.einsum("ri,nij,cj->nrc", by_row, images / 255.0, by_col).astype(np.float32)


def grid_places() -> np.ndarray:
    rows, cols = SIDES
    return np.array(
        [
            [2 * (cols / 2 + 7 * j) / cols - 1, 2 * (rows / 2 + 7 * i) / rows - 1]
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
        ],
        np.float32,
    )


def assert_close(one: np.ndarray, other: np.ndarray, what: str) -> None:
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-5, err_msg=what)


def given(name: str, images: np.ndarray, look: saccade.Rollout, t: int) -> np.ndarray:
    """The value of a step's input at glimpse t."""
    count = len(images)
    if name == "glimpse":
        return look.glimpses[:, t].reshape(count, -1)
    if name == "location":
        return look.locations[:, t]
    if name == "weights":
        return look["glimpse_weights"][:, t]
    if name == "candidates":
        return glimpses_at(images, grid_places())
    if name == "thumbnail":
        return shrunk(images, 13, 13).reshape(count, -1)
    if name == "canvas":
        return (images[:, None] / 255.0).astype(np.float32)
    if name == "step":
        return np.array([t], np.int64)
    raise AssertionError(name)


def empty(shape: list, count: int) -> np.ndarray:
    """The state of `count` episodes before the first step."""
    return np.zeros([{"batch": count, "steps": 0}.get(side, side) for side in shape], np.float32)


def test_a_step_matches_the_agent(run: pathlib.Path, program: str) -> None:
    session = exported(program, run)
    agent = saccade.load(run, threads=1)
    images = some_images(5)
    look = agent.rollout(images)
    whole = run.name.startswith("whole")
    outputs = [output.name for output in session.get_outputs()]
    carried = {
        part.name: empty(part.shape, len(images))
        for part in session.get_inputs()
        if "next_" + part.name in outputs and part.name not in ("location", "weights")
    }
    for t in range(agent.num_glimpses):
        feeds = {}
        for part in session.get_inputs():
            if part.name in carried:
                feeds[part.name] = carried[part.name]
            elif whole:
                rows, cols = (6, 9) if run.name == "whole" else SIDES
                small = shrunk(images, rows, cols)
                feeds[part.name] = (small[:, t] if rows == 6 else small).reshape(len(images), -1)
            else:
                feeds[part.name] = given(part.name, images, look, t)
        results = dict(zip(outputs, session.run(None, feeds)))
        assert_close(np.exp(results["log_probabilities"]), look.probabilities[:, t], f"glimpse {t}")
        if t == 0 and "first_location" in results:
            assert_close(results["first_location"], look.locations[:, 0], "the first glimpse")
        if t + 1 < agent.num_glimpses and run.name.startswith("stop"):
            assert_close(results["stop"][:, 0], look["stop_chances"][:, t], f"stop {t}")
        if t + 1 < agent.num_glimpses and "next_location" in results:
            assert_close(results["next_location"], look.locations[:, t + 1], f"after glimpse {t}")
        if t + 1 < agent.num_glimpses and "next_weights" in results:
            assert_close(results["next_weights"], look["glimpse_weights"][:, t + 1], f"glimpse {t}")
        if t + 1 < agent.num_glimpses and "next_window" in results:
            np.testing.assert_allclose(results["next_window"], look["windows"][:, t + 1], rtol=1e-4)
        carried = {name: results["next_" + name] for name in carried}
    assert np.ptp(look.probabilities[:, -1], axis=0).max() > 1e-3  # it distinguishes the images


def test_the_agents_glimpses_move(run: pathlib.Path) -> None:
    """Otherwise the other tests would detect nothing."""
    look = saccade.load(run, threads=1).rollout(some_images(5))
    if "locations" in look and run.name != "center":
        assert np.ptp(look.locations, axis=1).max() > 0.05


def assert_unrolled_matches(
    program: str, run: pathlib.Path, images: np.ndarray, canvas: np.ndarray
) -> saccade.Rollout:
    """Compares the unrolled agent on a canvas (N, channels, rows, cols) with a rollout."""
    session = exported(program, run, "--unrolled")
    look = saccade.load(run, threads=1).rollout(images)
    feeds = {"canvas": (canvas / 255.0).astype(np.float32)}
    if "first_location" in [part.name for part in session.get_inputs()]:
        feeds["first_location"] = look.locations[:, 0]
    results = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
    if "locations" in results:
        assert_close(results["locations"], look.locations, "locations")
    assert_close(np.exp(results["log_probabilities"]), look.probabilities[:, -1], "the answer")
    return look


def test_an_unrolled_agent_matches_the_agent(run: pathlib.Path, program: str) -> None:
    if run.name not in NEVER_UNROLLED:
        images = some_images(5)
        assert_unrolled_matches(program, run, images, images[:, None])


def png(pixels: np.ndarray) -> bytes:
    """The file of an image (rows, cols, 3)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    rows, cols, _ = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = chunk(b"IHDR", struct.pack(">2I5B", cols, rows, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + header + body


@pytest.mark.parametrize(
    "name", ["conv", "context", "smooth point", "grid", "window", "whole", "whole at once", "cnn"]
)
def test_colours_keep_their_order(name: str, folder: pathlib.Path, program: str) -> None:
    rng = np.random.default_rng(2)
    data = folder / "colours"
    for part in ("train", "test"):
        for label in "abc":
            (data / part / label).mkdir(parents=True, exist_ok=True)
            for i in range(10):
                pixels = rng.integers(0, 256, (12, 12, 3), dtype=np.uint8)
                (data / part / label / f"{i}.png").write_bytes(png(pixels))
    source = {"source": "folder", "path": str(data), "size": 12}
    out = folder / ("colour-" + name.replace(" ", "-"))
    trained(out, {**SMALL, **AGENTS[name], "data": source})
    images = np.stack([some_images(5), some_images(6)[1:], some_images(7)[2:]], axis=3)
    look = assert_unrolled_matches(program, out, images, images.transpose(0, 3, 1, 2))
    assert np.ptp(look.probabilities[:, -1], axis=0).max() > 1e-3


def test_baselines(folder: pathlib.Path, small: dict[str, object], program: str) -> None:
    """b = h w + c, or with a hidden layer, from the state after the step."""
    for name, overrides in (("linear", {}), ("deep", AGENTS["mlp critic"])):
        out = trained(folder / ("baseline-" + name), {**small, **overrides})
        session = exported(program, out)
        rng = np.random.default_rng(1)
        feeds = {
            part.name: rng.random((3, part.shape[1]), np.float32) for part in session.get_inputs()
        }
        baseline, h = session.run(["baseline", "next_state"], feeds)
        p = saccade.load(out, threads=1).parameters
        if name == "deep":
            h = np.maximum(h @ p["baseline.hidden.weight"] + p["baseline.hidden.bias"], 0)
            expected = h @ p["baseline.output.weight"] + p["baseline.output.bias"]
        else:
            expected = h @ p["baseline.weight"] + p["baseline.bias"]
        np.testing.assert_allclose(baseline, expected, rtol=1e-4, atol=1e-5)


def test_actions(folder: pathlib.Path, small: dict[str, object], program: str) -> None:
    config = {**small, "scene": {"kind": "catch", "canvas": [12, 12]}}
    out = trained(folder / "catch", {**config, "attention.glimpse.num_glimpses": 11})
    session = exported(program, out)
    look = saccade.load(out, threads=1).rollout(scenes=6)
    state = np.zeros((6, 12), np.float32)
    for t in range(11):
        feeds = {
            "glimpse": look.glimpses[:, t].reshape(6, -1),
            "location": look.locations[:, t],
            "state": state,
        }
        logs, state = session.run(["log_probabilities", "next_state"], feeds)
        assert_close(np.exp(logs), look.probabilities[:, t], f"glimpse {t}")


def test_metadata_describe_the_agent(
    folder: pathlib.Path, small: dict[str, object], program: str
) -> None:
    onnx = pytest.importorskip("onnx")
    out = trained(folder / "rnn", small)
    for words in ([], ["--unrolled"]):
        file = out / "agent.onnx"
        command = [program, "export", str(out), "--onnx", str(file), "--force", *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        model = onnx.load(file)
        onnx.checker.check_model(model, full_check=True)
        results = {entry.key: entry.value for entry in model.metadata_props}
        assert results["saccade.config"] == saccade.load(out).config_yaml
        assert json.loads(results["saccade.classes"]) == saccade.load(out).class_names
        assert results["saccade.version"] == model.producer_version
        for part in (*model.graph.input, *model.graph.output):
            kind = "input" if part in model.graph.input else "output"
            assert results[f"{kind}.{part.name}"] == part.doc_string != ""


def test_metadata_say_which_glimpse_an_answer_follows(
    folder: pathlib.Path, small: dict[str, object], tmp_path: pathlib.Path
) -> None:
    onnx = pytest.importorskip("onnx")
    out = trained(folder / "rnn", small)
    for unrolled, words in ((False, "after this look"), (True, "after the last look")):
        file = tmp_path / f"{unrolled}.onnx"
        saccade.load(out).export(onnx=file, unrolled=unrolled)
        (output,) = [p for p in onnx.load(file).graph.output if p.name == "log_probabilities"]
        assert output.doc_string == f"of the classes or actions, {words}"


def test_a_page(run: pathlib.Path, tmp_path: pathlib.Path) -> None:
    agent = saccade.load(run)
    with pytest.raises(saccade.InputError, match="single: has no effect without web"):
        agent.export(npz=tmp_path / "weights.npz", single=True)
    try:
        assert agent.export(web=tmp_path / "page") == [tmp_path / "page"]
    except saccade.InputError as error:
        if "the module of the page is missing" not in str(error):
            raise
        pytest.skip("the package was built without the web module (make web)")
    assert (tmp_path / "page/saccade.wasm").is_file()
    assert [file.name for file in (tmp_path / "page/agents").iterdir()] == ["small.agent"]
    page = tmp_path / "page.html"
    assert agent.export(web=page, single=True) == [page]
    assert page.read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(saccade.InputError, match="exists already"):
        agent.export(web=page, single=True)


def test_weights(run: pathlib.Path, program: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "weights.npz"
    subprocess.run([program, "export", run, "--npz", file], check=True, stdout=subprocess.DEVNULL)
    parameters = saccade.load(run, threads=1).parameters
    with np.load(file) as written:
        assert written.files == list(parameters)
        for name in written.files:
            np.testing.assert_array_equal(written[name], parameters[name], err_msg=name)
