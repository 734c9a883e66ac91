"""Payloads as files: written before the commit that refers to them, gone after the one that takes the
last reference away."""

import os
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import func, select

from engine.model.errors import InvalidInput
from engine.model.execution import Execution
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store import archive, files, reading, retention, search, words
from engine.store.contract import Group, StoreFailed
from engine.store.database import open_store
from engine.store.folder import Folder, name_of
from engine.store.rowstore import RowStore
from engine.store.tables import ExecutionRow, Payload, TaskRow
from engine.store.upkeep import verify
from tests.store.builders import a_run, changed, started

BIG = b'{"text":"' + b"abcdefgh" * 4_000 + b'"}'
OTHER = b'{"text":"' + b"stuvwxyz" * 4_000 + b'"}'
DONE = ExecutionStatus.COMPLETED
LONG_AGO = 1_000_000


@pytest.fixture
def store(database: RowStore, tmp_path: Path) -> RowStore:
    """A store on rows, of each kind, with a folder."""
    database.folder = files.folder_of(database, str(tmp_path / "payloads"))
    return database


def folder(store: RowStore) -> Folder:
    assert store.folder is not None
    return store.folder


def kept(store: RowStore, data: bytes = BIG) -> str:
    """A payload that is on the disk; its name."""
    path = name_of(data)
    folder(store).keep(path, data)
    return path


def with_output(store: RowStore, data: bytes = BIG, **fields: Any) -> Execution:
    """A stored execution with one attempt whose output is a file."""
    return started(store, {"output": data, "output_path": kept(store, data)}, **fields)


def there(store: RowStore) -> list[str]:
    return sorted(os.listdir(folder(store).place))


def remove(store: RowStore, execution: Execution, *, keep: bool = False) -> None:
    key = execution.key
    store.errand(lambda session: retention.remove(session, key, keep=keep, now=9))


def aged(store: RowStore, path: str, at_ms: int = LONG_AGO) -> str:
    os.utime(folder(store).place / path, (at_ms / 1000, at_ms / 1000))
    return path


def sweep(store: RowStore, before_ms: int = LONG_AGO + 1) -> int:
    names = list(folder(store).older(before_ms))
    return store.errand(lambda session: files.sweep(session, names, before_ms))


def bytes_held(store: RowStore) -> int:
    """Bytes of payloads in the tables."""

    def measure(session: Any) -> int:
        columns = (TaskRow.input, TaskRow.output, ExecutionRow.input, ExecutionRow.output)
        held = [session.exec(select(column)).all() for column in columns]
        rows = session.exec(select(func.count()).select_from(Payload)).one()
        return rows * len(BIG) + sum(len(value or b"") for values in held for value in values)

    return store.read(measure)


def test_what_is_in_a_file_is_not_in_the_database_and_is_read_when_asked_for(
    store: RowStore,
) -> None:
    path = kept(store)
    execution = started(
        store,
        {"input": BIG, "input_path": path, "output": BIG, "output_path": path},
        input=BIG,
        input_path=path,
        output=BIG,
        output_path=path,
    )
    assert bytes_held(store) < 1000
    for seq in (0, 1):
        assert store.payload(execution.key, seq, "input") == BIG
        assert store.payload(execution.key, seq, "output") == BIG
    loaded = store.load(execution.key, payloads=True)
    assert loaded is not None
    assert (loaded.execution.input, loaded.runs[0].output) == (None, None)
    assert (loaded.execution.input_path, loaded.runs[0].output_path) == (path, path)
    assert verify(store) == []


def test_a_row_never_names_a_file_that_is_not_there(store: RowStore) -> None:
    execution = started(store, {"output": BIG, "output_path": name_of(BIG)})
    assert store.payload(execution.key, 1, "output") == BIG
    assert verify(store) == []


def test_a_small_payload_that_a_client_has_left_stays_inline_and_its_file_is_counted(
    store: RowStore,
) -> None:
    path = aged(store, _left(store, b'{"n":1}'))
    execution = started(store, {"output": b'{"n":1}', "output_path": path})
    loaded = store.load(execution.key, payloads=True)
    assert loaded is not None and loaded.runs[0].output == b'{"n":1}'
    assert sweep(store) == 0
    remove(store, execution)
    assert there(store) == []


def _left(store: RowStore, data: bytes) -> str:
    path = f"task_output_{'1' * 32}.json"
    folder(store).keep(path, data)
    return path


def test_a_file_goes_with_the_last_execution_that_refers_to_it(store: RowStore) -> None:
    first, second = with_output(store), with_output(store)
    assert there(store) == [name_of(BIG)]
    remove(store, first)
    assert there(store) == [name_of(BIG)]
    assert store.payload(second.key, 1, "output") == BIG
    remove(store, second)
    assert there(store) == []


def test_a_file_stays_when_the_removal_is_not_committed(store: RowStore) -> None:
    execution = with_output(store)

    def half(session: Any) -> None:
        retention.remove(session, execution.key, keep=False, now=9)
        raise ValueError("the plug is pulled")

    with pytest.raises(ValueError, match="plug"):
        store.errand(half)
    assert store.payload(execution.key, 1, "output") == BIG


def test_a_removed_file_is_written_again_when_its_content_comes_back(store: RowStore) -> None:
    remove(store, with_output(store))
    execution = with_output(store)
    assert store.payload(execution.key, 1, "output") == BIG


def test_an_execution_refers_to_what_it_has_put_aside_until_it_goes(store: RowStore) -> None:
    execution = with_output(store)
    run = a_run(execution, output=OTHER, output_path=kept(store, OTHER))
    store.commit(Group([changed(execution, run)]))
    assert there(store) == sorted([name_of(BIG), name_of(OTHER)])
    remove(store, execution)
    assert there(store) == []


def test_an_archived_execution_keeps_its_files_and_not_their_content(store: RowStore) -> None:
    path = kept(store)
    execution = started(
        store,
        {"output": BIG, "output_path": path, "status": TaskStatus.COMPLETED},
        status=DONE,
        ended_at=5,
        input=BIG,
        input_path=path,
    )
    remove(store, execution, keep=True)
    assert there(store) == [path]
    found = store.read(lambda session: archive.get(session, execution.id))
    assert found is not None
    assert (found.loaded.execution.input, found.loaded.runs[0].output) == (None, None)
    for seq, side in ((0, "input"), (1, "output")):
        assert found.payload(folder(store), seq, side) == BIG

    store.errand(lambda session: retention.prune_archive(session, before=6))
    assert there(store) == []


def test_an_execution_without_its_file_can_still_be_archived_and_found(store: RowStore) -> None:
    path = kept(store)
    execution = started(store, status=DONE, ended_at=5, input=BIG, input_path=path)
    (folder(store).place / path).unlink()
    assert verify(store) == [
        f"The payload file {path} of execution number {execution.key} is missing"
    ]
    with pytest.raises(StoreFailed, match=f"the payload {path} cannot be read"):
        store.payload(execution.key, 0, "input")
    assert store.load(execution.key) is not None
    remove(store, execution, keep=True)
    assert store.load(execution.key) is None
    assert store.read(lambda session: archive.get(session, execution.id)) is not None


def test_files_that_nobody_refers_to_are_swept_after_their_grace(store: RowStore) -> None:
    used = aged(store, name_of(BIG)) if with_output(store) else ""
    fresh = kept(store, OTHER)
    for name in (f"task_input_{'2' * 32}.json", f"content_{'3' * 32}.json"):
        folder(store).keep(name, b"{}")
        aged(store, name)
    for name in (".abc.part", "notes.txt"):
        (folder(store).place / name).write_bytes(b"{")
        aged(store, name)
    assert sweep(store) == 3
    assert there(store) == sorted([used, fresh, "notes.txt"])


def test_a_file_that_is_used_after_the_sweep_has_looked_is_left(store: RowStore) -> None:
    path = aged(store, kept(store))
    names = list(folder(store).older(LONG_AGO + 1))
    with_output(store)
    assert names == [path]
    assert store.errand(lambda session: files.sweep(session, names, LONG_AGO + 1)) == 0
    assert there(store) == [path]


def test_words_at_the_beginning_of_a_file_are_searched(store: RowStore) -> None:
    data = b'{"customer":"Zenobia","text":"' + b"x" * 40_000 + b'"}'
    path = kept(store, data)
    execution = started(store, input=data, input_path=path)
    lost = started(store, input=BIG, input_path=kept(store))
    (folder(store).place / name_of(BIG)).unlink()
    assert store.errand(words.index_words) == 2
    found = store.read(
        lambda session: search.executions(session, search.Search("", "zenobia", "", 0, 10))
    )
    assert found.places == [execution.key]
    assert lost.key != execution.key


def test_lists_show_no_content_of_files(store: RowStore) -> None:
    execution = with_output(store)
    [run] = store.read(lambda session: reading.attempts(session, [(execution.key, 1)]))
    assert (run.output, run.output_path) == (None, name_of(BIG))


def test_no_two_databases_share_a_folder(tmp_path: Path) -> None:
    stores = [open_store(f"sqlite:///{tmp_path / name}.db") for name in ("one", "two")]
    places = {folder_place(store, tmp_path) for store in stores}
    assert len(places) == 2
    for store in stores:
        store.close()
    again = open_store(f"sqlite:///{tmp_path / 'one'}.db")
    assert folder_place(again, tmp_path) in places
    again.close()


def folder_place(store: RowStore, tmp_path: Path) -> Path:
    found = files.folder_of(store, str(tmp_path / "payloads"))
    assert found is not None
    return found.place


def test_a_database_that_needs_its_folder_is_not_opened_without(store: RowStore) -> None:
    assert files.folder_of(store, None) is None
    with_output(store)
    with pytest.raises(InvalidInput, match="REPRISE_PAYLOAD_FOLDER"):
        files.folder_of(store, None)
