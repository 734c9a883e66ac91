"""Which functions `--workers MODULE` brings."""

from pathlib import Path

import pytest

from engine.cli import workers_of
from engine.model.errors import InvalidInput


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command is started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("/")
    return tmp_path


def test_functions_declared_with_worker_are_found_beside_the_command(folder: Path) -> None:
    (folder / "photo_workers_here.py").write_text(
        "from engine.workers.functions import worker\n\n"
        "@worker('resize_photo', domain='eu')\ndef resize(photo: str) -> str:\n    return photo\n"
    )
    [found] = workers_of(["photo_workers_here"])
    assert (found.task_name, found.domain) == ("resize_photo", "eu")


def test_a_module_without_a_worker_says_what_it_lacks(folder: Path) -> None:
    (folder / "no_workers_here.py").write_text("x = 1\n")
    with pytest.raises(InvalidInput, match=r"brings no worker\. Put @worker"):
        workers_of(["no_workers_here"])


def test_a_module_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="--workers nowhere_at_all: No module"):
        workers_of(["nowhere_at_all"])
