"""Makes circle_square.safetensors: episodes of CircleSquare-v0 of ap_gym, recorded from the package.

Run by hand where ap_gym 0.7.1 is installed: python tests/reference/circle_square.py

    index (N), label (N), image (N, rows cols)
    position (T + 1, N, 2), glimpse (T + 1, N, 25): what the package observes, in its own units
    action (T, N, 2): random, some longer than a step
"""

import json
import pathlib
import struct

import numpy as np
from ap_gym.envs.image import CircleSquareDataset, ImagePerceptionConfig
from ap_gym.envs.image_classification import ImageClassificationVectorEnv

EPISODES, STEPS = 4, 16


def play():
    config = ImagePerceptionConfig(CircleSquareDataset(), prefetch=False)
    envs = ImageClassificationVectorEnv(EPISODES, config)
    seen, info = envs.reset(seed=3)
    actions = np.random.default_rng(5).normal(size=(STEPS, EPISODES, 2)) + [[0.5, -0.4]]
    actions = actions.astype(np.float32)
    positions, glimpses = [seen["glimpse_pos"]], [seen["glimpse"]]
    for action in actions:
        prediction = np.zeros((EPISODES, 2), np.float32)
        seen, *_, _ = envs.step({"action": action, "prediction": prediction})
        positions.append(seen["glimpse_pos"])
        glimpses.append(seen["glimpse"])
    module = envs.image_perception_module
    return {
        "index": info["index"],
        "label": module.current_labels,
        "image": module.current_images.reshape(EPISODES, -1),
        "position": np.stack(positions),
        "glimpse": np.stack(glimpses).reshape(STEPS + 1, EPISODES, -1),
        "action": actions,
    }


def write(arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        values = np.ascontiguousarray(array, np.float32)
        offsets = [len(data), len(data) + values.nbytes]
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": offsets}
        data += values.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file = pathlib.Path(__file__).with_suffix(".safetensors")
    file.write_bytes(struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    write(play())
