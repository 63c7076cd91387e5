"""The notebook, executed from its first cell to its last."""

import pathlib

import pytest

SOURCES = pathlib.Path(__file__).parents[2]


def test_the_notebook_runs(tmp_path: pathlib.Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(SOURCES / "examples" / "quickstart.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}  # the folder of its runs
    nbclient.NotebookClient(notebook, timeout=600, resources=resources).execute()

    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = "".join(str(output.get("data", {}).get("text/html", "")) for output in outputs)
    assert "data:image/gif;base64," in shown  # the video
    assert "soft_grid" in shown  # the comparison
    assert (tmp_path / "runs/quickstart/comparison/report.html").is_file()
    assert not any(output.output_type == "error" for output in outputs)
    assert all("outputs" not in cell or not cell.outputs for cell in _stored().cells)


def _stored():
    """The notebook is stored without outputs."""
    import nbformat

    return nbformat.read(SOURCES / "examples" / "quickstart.ipynb", as_version=4)
