"""A process that is killed amid files and commits: what is acknowledged has its files, and a file
without a commit is an orphan that the sweep finds."""

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from engine.model.record import decode
from engine.store import files, reading
from engine.store.database import open_store
from engine.store.rowstore import RowStore
from engine.store.upkeep import verify

FOR_EVER = 2**52


def opened(url: str, place: Path) -> RowStore:
    store = open_store(url)
    store.folder = files.folder_of(store, str(place))
    return store


def writer(url: str, place: Path, dies: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.store.file_writer", url, str(place), dies]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("acknowledged", [1, 17])
def test_every_acknowledged_payload_survives_a_kill_in_its_file(
    url: str, tmp_path: Path, acknowledged: int
) -> None:
    with writer(url, tmp_path / "payloads", "no") as process:
        assert process.stdout is not None
        ids = [line.strip() for line in islice(process.stdout, acknowledged)]
        process.kill()
        ids += [line.strip() for line in process.stdout]
    store = opened(url, tmp_path / "payloads")
    assert verify(store) == []
    for number, workflow_id in enumerate(ids, 1):
        key = store.key_of(workflow_id)
        assert key is not None
        loaded = store.load(key, payloads=True)
        assert loaded is not None
        assert None not in (loaded.execution.input_path, loaded.execution.output_path)
        assert None not in (loaded.runs[0].input_path, loaded.runs[0].output_path)
        assert decode(store.payload(key, 0, "input"))["number"] == number
        assert decode(store.payload(key, 1, "input"))["in"]["number"] == number
        assert decode(store.payload(key, 1, "output"))["number"] == -number
        assert decode(store.payload(key, 0, "output"))["number"] == -number
    store.close()


def test_a_file_is_on_the_disk_before_the_commit_that_refers_to_it(
    url: str, tmp_path: Path
) -> None:
    with writer(url, tmp_path / "payloads", "yes") as process:
        assert process.wait(60) != 0
    store = opened(url, tmp_path / "payloads")
    assert store.folder is not None
    assert len(os.listdir(store.folder.place)) == 1
    assert store.read(reading.counts) == {}
    assert verify(store) == []

    names = list(store.folder.older(FOR_EVER))
    assert store.errand(lambda session: files.sweep(session, names, FOR_EVER)) == 1
    assert os.listdir(store.folder.place) == []
    store.close()
