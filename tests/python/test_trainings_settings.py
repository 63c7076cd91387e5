"""Settings from Python are converted to YAML exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import saccade
from saccade._settings import as_called, find_file, flat, to_yaml


@pytest.mark.parametrize(
    ("value", "yaml"),
    [
        (None, "null"),
        (True, "true"),
        (np.False_, "false"),
        (100_000, "100000"),
        (1e6, "1000000"),
        (0.001, "0.001"),
        (1e-05, "1e-05"),
        (0.1 + 0.2, "0.30000000000000004"),
        (np.float32(0.5), "0.5"),
        (np.int64(3), "3"),
        ("lstm", "lstm"),
        ("500_000", "500_000"),
        ("null", '"null"'),
        ("", '""'),
        ("a: b # c", '"a: b # c"'),
        ("ü\n", '"ü\\n"'),
        (Path("/data/mnist"), "/data/mnist"),
        ([60, 60], "[60, 60]"),
        ((60, 60), "[60, 60]"),
        (np.array([60, 60]), "[60, 60]"),
        ({"from": 0.3, "to": 0.05, "over": 0.6}, "{from: 0.3, to: 0.05, over: 0.6}"),
        (
            [{"model.core": "rnn"}, {"model.core": "a b"}],
            '[{model.core: rnn}, {model.core: "a b"}]',
        ),
    ],
)
def test_values_as_yaml(value, yaml):
    assert to_yaml("key", value) == yaml


def test_text_reads_back_unchanged(tmp_path):
    for text in ("a: b", "it's", '"', "{x}", "a #b", " a ", "ü", "a\tb", "~", "null", "- a", "*"):
        config = {"data": {"source": "idx", "path": text}}
        with pytest.raises(saccade.InputError) as error:
            saccade.train(config, out=tmp_path / "run")
        assert f"{text}/train-images-idx3-ubyte" in str(error.value)


def test_nested_and_dotted_keys_are_the_same():
    ramp = {"from": 0.3, "to": 0.1}
    dotted = {"log.every": 9, "attention.glimpse.std": ramp, "vary": {"model.core": ["rnn"]}}
    nested = {
        "log": {"every": 9},
        "attention": {"glimpse.std": ramp},
        "vary": {"model.core": ["rnn"]},
        "training": {},
    }
    assert flat("config", dotted) == {
        "log.every": "9",
        "attention.glimpse.std": "{from: 0.3, to: 0.1}",
        "vary": "{model.core: [rnn]}",
    }
    assert flat("config", nested) == flat("config", dotted)


def test_presets_are_found_by_name_and_a_file_comes_first(tmp_path, monkeypatch):
    assert {"quickstart", "soft60", "hard_vs_soft"} <= set(saccade.presets())
    monkeypatch.chdir(tmp_path)
    preset = find_file("quickstart")
    assert preset == find_file("quickstart.yaml") == find_file("experiments/quickstart.yaml")
    (tmp_path / "quickstart").mkdir()
    assert find_file("quickstart") == preset
    (tmp_path / "quickstart.yaml").write_text("name: mine")
    assert find_file("quickstart.yaml") == Path("quickstart.yaml")


def test_a_call_is_recorded_as_source():
    called = as_called("train", Path("a.yaml"), {"seed": 1}, out=None, images=np.zeros((2, 3)))
    assert called == "saccade.train('a.yaml', {'seed': 1}, images=<float64 (2, 3)>)"
