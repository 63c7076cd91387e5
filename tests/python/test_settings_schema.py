"""The JSON schema of the settings, with an independent validator."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

jsonschema = pytest.importorskip("jsonschema")
FOLDER = Path(__file__).parents[2] / "experiments"


@pytest.fixture(scope="module")
def validator(program):
    written = subprocess.run([program, "settings", "--schema"], capture_output=True, check=True)
    schema = json.loads(written.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("preset", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_preset_is_valid_and_names_the_schema(validator, preset):
    text = preset.read_text()
    assert text.startswith("# yaml-language-server: $schema=settings.schema.json\n")
    validator.validate(yaml.safe_load(text))


def test_the_schema_beside_the_presets_is_up_to_date(validator):
    assert json.loads((FOLDER / "settings.schema.json").read_text()) == validator.schema


@pytest.mark.parametrize(
    "settings",
    [
        {"trainig": {"episodes": 3}},
        {"training": {"episods": 3}},
        {"training": {"learning_rate": 0}},
        {"training": {"learning_rate": "fast"}},
        {"model": {"heads": 2.5}},
        {"scene": {"canvas": [60]}},
        {"attention": {"glimpse": {"kind": "hard_gausian"}}},
        {"attention": {"glimpse": {"std": {"from": 0.3}}}},
        {"vary": [{"model.cor": "lstm"}]},
        {"seeds": 0},
    ],
)
def test_what_the_program_refuses_is_invalid(validator, settings):
    assert not validator.is_valid(settings)
