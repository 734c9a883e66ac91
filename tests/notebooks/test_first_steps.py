"""The notebook that ships with the samples runs from top to bottom and shows what it promises."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "sample_workflows" / "first_steps.ipynb"


@pytest.fixture(scope="module")
def played() -> nbformat.NotebookNode:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(ROOT)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    return notebook


def shown(notebook: nbformat.NotebookNode, text: str) -> str:
    """All that the cell with this text has put out."""
    cell = next(cell for cell in notebook.cells if text in cell.source)
    return "\n".join(
        str(value) for output in cell.outputs for value in output.get("data", {}).values()
    )


def test_the_notebook_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)


def test_a_definition_comes_out_as_a_picture(played: nbformat.NotebookNode) -> None:
    assert "<svg" in shown(played, "studio.register(")


def test_a_run_comes_out_with_its_status(played: nbformat.NotebookNode) -> None:
    assert "Completed" in shown(played, "first = studio.run")


def test_a_failure_names_its_task_and_the_next_step(played: nbformat.NotebookNode) -> None:
    card = shown(played, "studio.failure(")
    assert "compose_greeting" in card and "nobody to greet" in card and "studio.rerun" in card


def test_a_rerun_with_a_name_greets(played: nbformat.NotebookNode) -> None:
    assert "Bonjour, Grace." in shown(played, "mended.output")


def test_executions_come_out_as_a_table(played: nbformat.NotebookNode) -> None:
    assert shown(played, "table[[").count("hello_reprise") >= 2


def test_retries_of_a_mock_take_no_time(played: nbformat.NotebookNode) -> None:
    assert "compose_greeting" in shown(played, "tested = studio.mock")
