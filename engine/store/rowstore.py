"""A Store on rows: what SQLite and PostgreSQL have in common.

One connection writes, in groups; a few others read what is committed, from any thread. How a
connection is made and what its errors mean is the business of `sqlite.py` and `postgres.py`.
"""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, LifoQueue
from typing import Any, ClassVar, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from engine.model.definitions import WorkflowDef
from engine.model.events import Letter
from engine.model.execution import EMPTY, Execution
from engine.model.record import decode
from engine.store import catalogue, files, letters
from engine.store.contract import (
    Gated,
    Group,
    Loaded,
    Ready,
    RowRefused,
    StoredLetter,
    StoreFailed,
    Wake,
)
from engine.store.files import FOLDER
from engine.store.folder import Folder, read_from
from engine.store.payloads import Payloads, is_file, whole
from engine.store.rows import Batch, Params, execution_of, run_of
from engine.store.statements import Statements

Value = TypeVar("Value")

_CHAINS = 100_000
_DEFINITIONS = 2_000


class Readers:
    """Connections for reading, made when needed and used by one thread at a time."""

    def __init__(self, connect: Callable[[], Any], size: int) -> None:
        self._connect = connect
        self._closed = False
        self._idle: LifoQueue[Any] = LifoQueue()
        for _ in range(size):
            self._idle.put(None)

    @contextmanager
    def one(self) -> Iterator[Any]:
        """A connection; one that raised is not used again."""
        connection = self._idle.get()
        try:
            if self._closed:
                raise StoreFailed("the database is closed, because the engine stops")
            connection = connection or self._connect()
            yield connection
        except BaseException:
            if connection is not None:
                connection.close()
            connection = None
            raise
        finally:
            if self._closed and connection is not None:
                connection.close()
                connection = None
            self._idle.put(connection)

    def close(self) -> None:
        """Close those that are idle; one in use is closed by its user. Whoever waits is told."""
        self._closed = True
        while True:
            try:
                connection = self._idle.get_nowait()
            except Empty:
                break
            if connection is not None:
                connection.close()
        # One place is left: each that waits takes it, is refused, and so wakes the next. Without
        # it they would wait for ever, and the process with them.
        self._idle.put(None)


class RowStore:
    """The contract on one write connection, read connections and compiled statements."""

    near: ClassVar[bool] = False
    """A commit takes no longer than the disk: whoever commits may be waited for by everybody."""
    BEGIN: ClassVar[str] = "BEGIN"
    BEGIN_READING: ClassVar[str] = "BEGIN"

    def __init__(
        self,
        writer: Any,
        readers: Readers,
        statements: Statements,
        sessions: tuple[Engine, Engine],
    ) -> None:
        self._writer = writer
        self._cursor = writer.cursor()
        self._readers = readers
        self._sql = statements
        self._writing, self._reading = sessions
        self.folder: Folder | None = None
        """Where large payloads are files; without one, all are in the database."""
        self._payloads = Payloads()
        self._chains: dict[int, str] = {}
        self._snapshots: set[str] = set()
        self._definitions: dict[str, WorkflowDef] = {}
        self.on_close: list[Callable[[], object]] = []
        """What else is to be let go of, once the connections are."""
        self._keys = itertools.count(self._first_key())

    def explained(self, error: BaseException) -> BaseException:
        """RowRefused or StoreFailed, with what the driver said."""
        raise NotImplementedError

    def _first_key(self) -> int:
        """One above all that are stored and all that were removed: task ids carry the number."""
        highest = self._cursor.execute(self._sql.highest_key).fetchone()[0]
        removed = self._cursor.execute(self._sql.highest_removed).fetchone()
        return max(highest or 0, 0 if removed is None else removed[0]) + 1

    def next_key(self) -> int:
        return next(self._keys)

    # Writing

    def commit(self, group: Group) -> None:
        batch = Batch(self._payloads, self._chain_before, self._snapshots, self.folder)
        try:
            batch.take(group)
        except (TypeError, ValueError) as error:
            raise RowRefused(f"A value cannot be stored: {error}") from error
        if batch.empty:
            return
        with self._transaction():
            self._write(batch)
        self._learn(group, batch)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._prepare()
        try:
            self._cursor.execute(self.BEGIN)
            yield
            self._cursor.execute("COMMIT")
        except BaseException as error:
            self._chains.clear()
            self._roll_back()
            raise self.explained(error) from error

    def _roll_back(self) -> None:
        raise NotImplementedError

    def _prepare(self) -> None:
        """Make sure of the write connection, where it can be lost."""

    def _many(self, sql: str, rows: Iterable[Params]) -> None:
        rows = rows if isinstance(rows, list) else list(rows)
        if len(rows) == 1:
            self._cursor.execute(sql, rows[0])
        elif rows:
            self._cursor.executemany(sql, rows)

    def _write(self, batch: Batch) -> None:
        sql, many = self._sql, self._many
        many(sql.insert_snapshot, batch.snapshots.items())
        many(sql.insert_payload, batch.values.values())
        many(sql.insert_use, batch.uses)
        many(sql.insert_file_use, batch.files)
        many(sql.count, self._counts(batch))
        many(sql.insert_execution, batch.insertions())
        many(sql.insert_idempotency, batch.idempotency())
        for columns, rows in batch.updates().items():
            many(sql.update_execution(columns), rows)
        many(sql.insert_aside, batch.aside)
        many(sql.fill_aside, [(row[0], row[1]) for row in batch.aside])
        many(sql.delete_run, batch.removed)
        many(sql.upsert_run, batch.runs.values())
        many(sql.insert_line, batch.ledger)
        many(sql.insert_log, batch.logs)
        many(sql.insert_message, batch.outbox)
        many(sql.insert_letter, batch.letters)
        many(sql.delete_letter, batch.delivered)
        many(sql.insert_unindexed, ((key,) for key in batch.unindexed))

    def _counts(self, batch: Batch) -> list[Params]:
        """How the numbers of executions by name and status move; a status is read before it is
        overwritten, since only the store knows for certain what it was."""
        moves: dict[tuple[str, str], int] = {}

        def move(name: str, status: str, by: int) -> None:
            moves[name, status] = moves.get((name, status), 0) + by

        for values in batch.created.values():
            move(values["name"], values["status"], 1)
        for key, values in batch.changed.items():
            if "status" not in values and "name" not in values:
                continue
            before = self._cursor.execute(self._sql.status_of, (key,)).fetchone()
            if before is not None:
                move(before[0], before[1], -1)
                move(values.get("name", before[0]), values.get("status", before[1]), 1)
        return [(*place, by) for place, by in moves.items() if by]

    def _learn(self, group: Group, batch: Batch) -> None:
        """Remember what is now certainly stored."""
        self._payloads.learn(list(batch.values))
        self._snapshots.update(batch.snapshots)
        if len(self._chains) > _CHAINS:
            self._chains.clear()
        self._chains.update(batch.chains)
        for item in group.written:
            if item.created:
                self._know(item.execution.definition_hash, item.execution.definition)

    def _chain_before(self, key: int) -> str:
        known = self._chains.get(key)
        if known is not None:
            return known
        with self._told():
            row = self._cursor.execute(self._sql.last_line, (key, 1)).fetchone()
        return "" if row is None else str(row[1])

    def errand(self, work: Callable[[Session], Value]) -> Value:
        """Run cold work with a session on the write connection, in a transaction of its own."""
        self._prepare()
        try:
            with self._told(), self._session(self._writing) as session:
                with session.begin():
                    value = work(session)
                    unused = files.left_unused(session)
                # The commit stands: now, and not before, what it has left unused may go.
                if self.folder is not None:
                    self.folder.drop(unused)
                return value
        finally:
            self._payloads.forget()
            self._chains.clear()

    def _session(self, engine: Engine) -> Session:
        return Session(engine, info={FOLDER: self.folder})

    def write_within(self, group: Group) -> None:
        """Write a group as a part of the errand that is under way, in its transaction."""
        batch = Batch(self._payloads, self._chain_before, self._snapshots, self.folder)
        batch.take(group)
        self._write(batch)

    def tidy(self) -> None:
        """Upkeep for a quiet moment on the core thread, where the database needs any."""

    # Reading

    def read(self, work: Callable[[Session], Value]) -> Value:
        """Run a cold question with a session on a read connection, from any thread."""
        with self._told(), self._session(self._reading) as session:
            return work(session)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of the driver as those of the contract."""
        try:
            yield
        except DBAPIError as error:
            raise self.explained(error.orig or error) from error
        except self._driver_error as error:
            raise self.explained(error) from error

    _driver_error: ClassVar[type[Exception]] = Exception

    def load(self, key: int, payloads: bool = False) -> Loaded | None:
        sql = self._sql
        with self._told(), self._readers.one() as connection:
            connection.execute(self.BEGIN_READING)
            row = connection.execute(sql.execution, (key,)).fetchone()
            if row is None:
                connection.execute("COMMIT")
                return None

            def full(held: bytes | None) -> bytes | None:
                return None if is_file(held) else self._whole(connection, held)

            execution = execution_of(row, full, lambda name: self._find(connection, name))
            last = connection.execute(sql.last_line, (key, 1)).fetchone()
            if last is not None:
                execution.line = max(execution.line, last[0])
            rows = connection.execute(sql.runs if payloads else sql.bare_runs, (key,)).fetchall()
            runs = [run_of(item, full) for item in rows]
            connection.execute("COMMIT")
        return Loaded(execution, runs)

    def head(self, workflow_id: str) -> Execution | None:
        with self._told(), self._readers.one() as connection:
            row = connection.execute(self._sql.head, (workflow_id,)).fetchone()
            if row is None:
                return None
            return execution_of(
                row,
                lambda held: None if is_file(held) else self._whole(connection, held),
                lambda name: self._find(connection, name),
            )

    def key_of(self, workflow_id: str) -> int | None:
        row = self._ask_one(self._sql.key_of, (workflow_id,))
        return None if row is None else row[0]

    def payload(self, key: int, seq: int, side: str) -> bytes | None:
        with self._told(), self._readers.one() as connection:
            if seq == 0:
                found = connection.execute(self._sql.payload_of_execution[side], (key,))
            else:
                found = connection.execute(self._sql.payload_of_run[side], (key, seq))
            row = found.fetchone()
            return None if row is None else self._whole(connection, row[0])

    def outputs(self, key: int, seqs: Collection[int]) -> dict[int, bytes]:
        if not seqs:
            return {}
        wanted = set(seqs)
        with self._told(), self._readers.one() as connection:
            # Rows in between are passed over: a list of thousands of numbers costs more than they do.
            between = connection.execute(self._sql.outputs, (key, min(wanted), max(wanted)))
            held = [(seq, value) for seq, value in between.fetchall() if seq in wanted]
            return {seq: self._whole(connection, value) or EMPTY for seq, value in held}

    def ready(self, carrier: str | None, limit: int) -> Sequence[Ready]:
        if carrier is None:
            rows = self._ask(self._sql.ready, (limit,))
        else:
            rows = self._ask(self._sql.ready_for, (carrier, limit))
        return [Ready(*row) for row in rows]

    def taken(self, names: Sequence[str]) -> dict[str, int]:
        if not names:
            return {name: n for name, n in self._ask(self._sql.taken_of_all, ())}
        return {name: self._ask(self._sql.taken, (name,))[0][0] for name in names}

    def due(self, until: int, limit: int) -> Sequence[Wake]:
        found = [Wake(*row) for row in self._ask(self._sql.due_tasks, (until, limit))]
        whole_ones = self._ask(self._sql.due_executions, (until, limit))
        found.extend(Wake(at, key, None) for at, key in whole_ones)
        found.sort(key=lambda wake: wake.at)
        return found[:limit]

    def letters(self) -> Sequence[StoredLetter]:
        with self._told(), self._readers.one() as connection:
            return [
                StoredLetter(number, Letter(to, self._event(connection, kind, body), sender))
                for number, to, sender, kind, body in connection.execute(self._sql.letters)
            ]

    def started_with(self, workflow_name: str, key: str) -> str | None:
        row = self._ask_one(self._sql.started_with, (workflow_name, key))
        return None if row is None else row[0]

    def free_key(self, workflow_name: str, key: str, workflow_id: str) -> None:
        self.errand(lambda session: catalogue.release_key(session, workflow_name, key, workflow_id))

    def gated(self) -> Sequence[Gated]:
        return [
            Gated(name, key, bool(waits), self.definition(digest).concurrent_executions)
            for name, key, waits, digest in self._ask(self._sql.gated, ())
        ]

    def definition(self, name: str) -> WorkflowDef:
        """The snapshot stored under a hash."""
        known = self._definitions.get(name)
        if known is not None:
            return known
        with self._told(), self._readers.one() as connection:
            return self._find(connection, name)

    def _event(self, connection: Any, kind: str, body: bytes) -> Any:
        return letters.read(kind, bytes(body), lambda name: self._find(connection, name))

    def _ask(self, sql: str, params: Params) -> list[Any]:
        with self._told(), self._readers.one() as connection:
            rows: list[Any] = connection.execute(sql, params).fetchall()
            return rows

    def _ask_one(self, sql: str, params: Params) -> Any:
        rows = self._ask(sql, params)
        return rows[0] if rows else None

    def _whole(self, connection: Any, held: bytes | None) -> bytes | None:
        def fetch(digest: bytes) -> tuple[int, bytes]:
            row = connection.execute(self._sql.value, (digest,)).fetchone()
            if row is None:
                raise StoreFailed(f"A stored value is missing: {digest.hex()}")
            return row[0], row[1]

        return whole(held, fetch, lambda path: read_from(self.folder, path))

    def _find(self, connection: Any, name: str) -> WorkflowDef:
        known = self._definitions.get(name)
        if known is None:
            row = connection.execute(self._sql.snapshot, (name,)).fetchone()
            if row is None:
                raise StoreFailed(f"The definition snapshot {name} is missing")
            known = WorkflowDef.read(decode(bytes(row[0])))
            self._know(name, known)
        return known

    def _know(self, name: str, definition: WorkflowDef) -> None:
        if len(self._definitions) > _DEFINITIONS:
            self._definitions.clear()
        self._definitions[name] = definition

    def close(self) -> None:
        self._readers.close()
        self._reading.dispose()
        self._writing.dispose()
        self._writer.close()
        for let_go in reversed(self.on_close):
            let_go()
        self.on_close.clear()
