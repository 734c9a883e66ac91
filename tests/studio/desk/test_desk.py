"""What people keep is there again, and a file of somebody else's is left alone."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest

from studio.desk.desk import Desk, DeskError, DeskLocked, DeskRow, DraftConflict, NotADesk


@contextmanager
def a_desk(folder: Path, name: str = "desk.db", patience: float = 5.0) -> Iterator[Desk]:
    ticks = count(1_000)
    desk = Desk(folder / name, clock=lambda: next(ticks), patience_seconds=patience)
    try:
        yield desk
    finally:
        desk.close()


def test_a_draft_is_there_again_after_the_desk_was_closed(tmp_path: Path) -> None:
    document = {"definition": {"name": "pay", "unknown": [1.5, None, "ü", "\ud83d"]}, "done": []}
    with a_desk(tmp_path) as desk:
        desk.save_draft("pay", document, base_version=3)
    with a_desk(tmp_path) as desk:
        draft = desk.load_draft("pay")
    assert draft is not None
    assert (draft.document, draft.base_version, draft.saves) == (document, 3, 1)
    assert draft.updated_at == 1_000


def test_a_draft_that_was_never_saved_is_none(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        assert desk.load_draft("pay") is None
        assert desk.delete_draft("pay") is False


def test_drafts_are_listed_newest_first_and_each_person_sees_their_own(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        desk.save_draft("old", {})
        desk.save_draft("new", {})
        desk.save_draft("theirs", {}, owner="ada")
        desk.save_draft("old", {"again": True})
        assert [draft.name for draft in desk.list_drafts()] == ["old", "new"]
        assert [draft.name for draft in desk.list_drafts(owner="ada")] == ["theirs"]


def test_a_deleted_draft_is_gone_and_its_namesake_of_another_person_is_not(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        desk.save_draft("pay", {})
        desk.save_draft("pay", {}, owner="ada")
        assert desk.delete_draft("pay") is True
        assert desk.load_draft("pay") is None
        assert desk.load_draft("pay", owner="ada") is not None


def test_a_save_from_a_second_tab_is_a_conflict_and_loses_nothing(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        first = desk.save_draft("pay", {"from": "first tab"}, after=0)
        desk.save_draft("pay", {"from": "second tab"}, after=first.saves)
        with pytest.raises(DraftConflict, match="saved 2 times, you know of 1"):
            desk.save_draft("pay", {"from": "first tab again"}, after=first.saves)
        kept = desk.load_draft("pay")
        assert kept is not None and kept.document == {"from": "second tab"}


def test_suites_are_kept_by_definition_and_name(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        desk.save_suite("pay", "happy", {"cases": 1})
        desk.save_suite("pay", "broken card", {"cases": 2})
        desk.save_suite("ship", "happy", {"cases": 3})
        desk.save_suite("pay", "happy", {"cases": 4})
        found = [(suite.name, suite.document) for suite in desk.suites("pay")]
        assert found == [("broken card", {"cases": 2}), ("happy", {"cases": 4})]
        assert len(desk.suites()) == 3


def test_what_is_remembered_is_recalled_by_its_very_key(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        desk.remember("search/late", {"q": "status:FAILED"})
        desk.remember("search/Late", {"q": "other"})
        desk.remember("search/late", {"q": "status:TIMED_OUT"})
        assert desk.recall("search/late") == {"q": "status:TIMED_OUT"}
        assert desk.recall("search/never", "nothing") == "nothing"
        assert desk.recall("search/Late") == {"q": "other"}
        assert desk.forget("search/late") is True
        assert desk.recall("search/late") is None


def test_recent_things_move_to_the_front_and_the_oldest_fall_off(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        for item in ("a", "b", "c", "a", "d"):
            recent = desk.remember_recent("recent", item, most=3)
        assert recent == ["d", "a", "c"] == desk.recall("recent")


def test_what_is_no_json_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        with pytest.raises(DeskError, match="Only JSON"):
            desk.remember("number", float("nan"))
        assert desk.recall("number") is None


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE accounts (id)")
        theirs.commit()
    before = path.read_bytes()
    with pytest.raises(NotADesk, match="not a desk"):
        Desk(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 100)
    with pytest.raises(NotADesk, match="not a database"):
        Desk(path)
    assert path.read_text().startswith("Dear reader")


def test_a_desk_of_a_newer_studio_is_refused(tmp_path: Path) -> None:
    with a_desk(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "desk.db")) as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(NotADesk, match="newer version"):
        Desk(tmp_path / "desk.db")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeskError, match="does not exist"):
        Desk(tmp_path / "nowhere" / "desk.db")


def test_a_locked_file_is_said_to_be_locked_and_works_again_afterwards(tmp_path: Path) -> None:
    with (
        a_desk(tmp_path, patience=0.01) as desk,
        closing(sqlite3.connect(tmp_path / "desk.db", isolation_level=None)) as other,
    ):
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DeskLocked, match="locked by another process"):
            desk.save_draft("pay", {})
        other.execute("ROLLBACK")
        assert desk.save_draft("pay", {}).saves == 1


def test_the_desks_tables_are_registered_apart() -> None:
    assert set(DeskRow.metadata.tables) == {"draft", "suite", "kept"}
