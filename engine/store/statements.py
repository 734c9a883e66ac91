"""The hot statements, compiled once from the tables into the text of one database.

They run through the driver as they are. Everything cold is written with sessions where it is used.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    Dialect,
    Table,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    null,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.sql.elements import ClauseElement

from engine.store import tables
from engine.store.rows import EXECUTION_COLUMNS, EXECUTION_FIELDS, RUN_COLUMNS, RUN_FIELDS
from engine.store.tables import table_of

TASK = table_of(tables.TaskRow)
EXECUTION = table_of(tables.ExecutionRow)
LETTER = table_of(tables.LetterRow)
LEDGER = table_of(tables.Ledger)
PAYLOAD = table_of(tables.Payload)
SNAPSHOT = table_of(tables.DefinitionSnapshot)
COUNTER = table_of(tables.Counter)
BEFORE = table_of(tables.TaskBefore)

_LIVE = exists(
    select(literal_column("1"))
    .select_from(EXECUTION)
    .where(EXECUTION.c.key == TASK.c.execution, text(f"execution.{tables.EXECUTION_LIVE}"))
    .correlate(TASK)
)
_READY = (
    TASK.c.execution,
    TASK.c.seq,
    TASK.c.carrier,
    TASK.c.domain,
    TASK.c.priority,
    TASK.c.due_at,
)
_WAITS = text("(status = 'SCHEDULED' OR substr(carrier, 1, 1) = '#')")

_FROM_THE_FIRST: Any = literal_column("0")
"""Spelled out, because a limit alone is given an offset with a parameter on SQLite."""


class Statements:
    """One database's text of every hot statement, with the order of its parameters."""

    def __init__(self, dialect: Dialect, insert: Callable[[Table], Any]) -> None:
        """`insert` is the dialect's own, which knows ON CONFLICT. It is handed in so that nobody
        loads the dialect of a database that is not used."""
        self._dialect = dialect
        self._new = insert
        self._updates: dict[tuple[str, ...], str] = {}
        self.parameters: dict[str, Sequence[Column[Any]]] = {}
        """The columns that the parameters of a writing statement go to."""
        self._compile_writes()
        self._compile_reads()

    def _compile_writes(self) -> None:
        self.insert_execution = self._insert(EXECUTION, EXECUTION_COLUMNS)
        self.upsert_run = self._upsert_run()
        self.delete_run = self._text(
            delete(TASK).where(
                TASK.c.execution == bindparam("p_execution"), TASK.c.seq == bindparam("p_seq")
            ),
            ("execution", "seq"),
        )
        self.insert_aside = self._insert(BEFORE, RUN_COLUMNS)
        self.fill_aside = self._fill_aside()
        self.insert_snapshot = self._insert(SNAPSHOT, ("hash", "body"), once=True)
        self.insert_payload = self._insert(PAYLOAD, ("hash", "size", "codec", "body"), once=True)
        self.insert_use = self._insert(
            table_of(tables.PayloadUse), ("execution", "hash"), once=True
        )
        self.insert_file_use = self._insert(
            table_of(tables.FileUse), ("execution", "path"), once=True
        )
        self.insert_letter = self._insert(LETTER, ("to_id", "sender", "kind", "body"))
        self.delete_letter = self._text(
            delete(LETTER).where(LETTER.c.id == bindparam("p_id")), ("id",)
        )
        self.insert_message = self._insert(
            table_of(tables.Outbox), ("execution", "topic", "created_at", "body")
        )
        self.insert_line = self._insert(
            LEDGER, ("execution", "line", "at", "cause", "by", "why", "chain", "body")
        )
        self.insert_log = self._insert(
            table_of(tables.TaskLogRow), ("execution", "seq", "task_id", "at", "line")
        )
        self.insert_unindexed = self._insert(table_of(tables.Unindexed), ("execution",), once=True)
        self.insert_idempotency = self._insert(
            table_of(tables.Idempotency), ("workflow_name", "key", "workflow_id")
        )
        self.count = self._count()

    def _fill_aside(self) -> str:
        """An attempt is put aside without the payloads that nobody had in memory: they are taken
        from its row, before that is overwritten."""
        same = (TASK.c.execution == BEFORE.c.execution, TASK.c.seq == BEFORE.c.seq)
        held = {
            side: func.coalesce(BEFORE.c[side], select(TASK.c[side]).where(*same).scalar_subquery())
            for side in ("input", "output")
        }
        return self._text(
            update(BEFORE)
            .values(held)
            .where(BEFORE.c.execution == bindparam("p_execution"))
            .where(BEFORE.c.seq == bindparam("p_seq"))
            .where(or_(BEFORE.c.input.is_(None), BEFORE.c.output.is_(None))),
            ("execution", "seq"),
        )

    def _compile_reads(self) -> None:
        key: Any = bindparam("p_key")
        seq: Any = bindparam("p_seq")
        limit: Any = bindparam("p_limit")
        whose = (TASK.c.execution == key,)
        self.execution = self._text(
            select(*(EXECUTION.c[name] for name in EXECUTION_FIELDS)).where(EXECUTION.c.key == key),
            ("key",),
        )
        self.head = self._text(
            select(*(EXECUTION.c[name] for name in EXECUTION_FIELDS)).where(
                EXECUTION.c.id == bindparam("p_id")
            ),
            ("id",),
        )
        self.runs = self._text(
            select(*(TASK.c[name] for name in RUN_FIELDS)).where(*whose).order_by(TASK.c.seq),
            ("key",),
        )
        bare = (null() if name in ("input", "output") else TASK.c[name] for name in RUN_FIELDS)
        self.bare_runs = self._text(select(*bare).where(*whose).order_by(TASK.c.seq), ("key",))
        self.payload_of_run = {
            side: self._text(select(TASK.c[side]).where(*whose, TASK.c.seq == seq), ("key", "seq"))
            for side in ("input", "output")
        }
        some = TASK.c.seq.between(bindparam("p_first"), bindparam("p_last"))
        self.outputs = self._text(
            select(TASK.c.seq, TASK.c.output).where(*whose, some), ("key", "first", "last")
        )
        self.payload_of_execution = {
            side: self._text(select(EXECUTION.c[side]).where(EXECUTION.c.key == key), ("key",))
            for side in ("input", "output", "variables")
        }
        self.value = self._text(
            select(PAYLOAD.c.codec, PAYLOAD.c.body).where(PAYLOAD.c.hash == bindparam("p_hash")),
            ("hash",),
        )
        self.snapshot = self._text(
            select(SNAPSHOT.c.body).where(SNAPSHOT.c.hash == bindparam("p_hash")), ("hash",)
        )
        self.key_of = self._text(
            select(EXECUTION.c.key).where(EXECUTION.c.id == bindparam("p_id")), ("id",)
        )
        self.status_of = self._text(
            select(EXECUTION.c.name, EXECUTION.c.status).where(EXECUTION.c.key == key), ("key",)
        )
        self.last_line = self._text(
            select(LEDGER.c.line, LEDGER.c.chain)
            .where(LEDGER.c.execution == key)
            .order_by(LEDGER.c.line.desc())
            .limit(bindparam("p_limit"))
            .offset(_FROM_THE_FIRST),
            ("key", "limit"),
        )
        self.highest_key = self._text(select(func.max(EXECUTION.c.key)), ())
        used = table_of(tables.Idempotency)
        self.started_with = self._text(
            select(used.c.workflow_id).where(
                used.c.workflow_name == bindparam("p_name"), used.c.key == bindparam("p_key")
            ),
            ("name", "key"),
        )
        house = table_of(tables.House)
        self.highest_removed = self._text(
            select(house.c.value).where(text(f"name = '{tables.HIGHEST_REMOVED}'")), ()
        )
        self._compile_queue(limit)

    def _compile_queue(self, limit: Any) -> None:
        order = (TASK.c.priority.desc(), TASK.c.due_at, TASK.c.execution, TASK.c.seq)
        ready = select(*_READY).where(text(tables.QUEUED), _WAITS, _LIVE).order_by(*order)
        self.ready = self._text(ready.limit(limit).offset(_FROM_THE_FIRST), ("limit",))
        of_one = (
            ready.where(TASK.c.carrier == bindparam("p_carrier"))
            .limit(limit)
            .offset(_FROM_THE_FIRST)
        )
        self.ready_for = self._text(of_one, ("carrier", "limit"))
        self.taken = self._text(
            select(func.count())
            .select_from(TASK)
            .where(TASK.c.name == bindparam("p_name"), text(tables.TAKEN), _LIVE),
            ("name",),
        )
        self.taken_of_all = self._text(
            select(TASK.c.name, func.count())
            .where(text(tables.TAKEN), _LIVE)
            .group_by(TASK.c.name),
            (),
        )
        until: Any = bindparam("p_until")
        self.due_tasks = self._text(
            select(TASK.c.wake_at, TASK.c.execution, TASK.c.seq)
            .where(text(tables.TASK_WAKES), TASK.c.wake_at <= until, _LIVE)
            .order_by(TASK.c.wake_at)
            .limit(limit)
            .offset(_FROM_THE_FIRST),
            ("until", "limit"),
        )
        self.due_executions = self._text(
            select(EXECUTION.c.wake_at, EXECUTION.c.key)
            .where(text(tables.EXECUTION_WAKES), EXECUTION.c.wake_at <= until)
            .order_by(EXECUTION.c.wake_at)
            .limit(limit)
            .offset(_FROM_THE_FIRST),
            ("until", "limit"),
        )
        self.gated = self._text(
            select(
                EXECUTION.c.rate_limit_key,
                EXECUTION.c.key,
                EXECUTION.c.rate_limited,
                EXECUTION.c.definition_hash,
            )
            .where(text(tables.GATED))
            .order_by(EXECUTION.c.key),
            (),
        )
        self.letters = self._text(
            select(
                LETTER.c.id, LETTER.c.to_id, LETTER.c.sender, LETTER.c.kind, LETTER.c.body
            ).order_by(LETTER.c.id),
            (),
        )

    def update_execution(self, columns: tuple[str, ...]) -> str:
        """The statement that sets these columns; the key is its last parameter."""
        known = self._updates.get(columns)
        if known is None:
            statement = (
                update(EXECUTION)
                .where(EXECUTION.c.key == bindparam("p_key"))
                .ordered_values(*((name, bindparam(f"p_{name}")) for name in columns))
            )
            known = self._written(statement, EXECUTION, (*columns, "key"))
            self._updates[columns] = known
        return known

    def _insert(self, table: Table, columns: Sequence[str], once: bool = False) -> str:
        statement = self._new(table).values({name: bindparam(f"p_{name}") for name in columns})
        if once:
            statement = statement.on_conflict_do_nothing()
        return self._written(statement, table, columns)

    def _upsert_run(self) -> str:
        """A new attempt, or all that may change of a stored one; a payload that is not given
        stays as it is stored."""
        statement = self._new(TASK).values({name: bindparam(f"p_{name}") for name in RUN_COLUMNS})
        given = statement.excluded
        changes: dict[str, Any] = {
            name: given[name] for name in RUN_COLUMNS if name not in ("execution", "seq")
        }
        for side in ("input", "output"):
            changes[side] = func.coalesce(given[side], TASK.c[side])
        statement = statement.on_conflict_do_update(
            index_elements=[TASK.c.execution, TASK.c.seq], set_=changes
        )
        return self._written(statement, TASK, RUN_COLUMNS)

    def _count(self) -> str:
        statement = self._new(COUNTER).values(
            {name: bindparam(f"p_{name}") for name in ("name", "status", "n")}
        )
        statement = statement.on_conflict_do_update(
            index_elements=[COUNTER.c.name, COUNTER.c.status],
            set_={"n": COUNTER.c.n + statement.excluded.n},
        )
        return self._written(statement, COUNTER, ("name", "status", "n"))

    def _written(self, statement: ClauseElement, table: Table, columns: Sequence[str]) -> str:
        sql = self._text(statement, columns)
        self.parameters[sql] = [table.c[name] for name in columns]
        return sql

    def _text(self, statement: ClauseElement, order: Sequence[str | None]) -> str:
        """The text, after making sure that its parameters come in the order we bind them."""
        compiled: Any = statement.compile(dialect=self._dialect)
        names = list(compiled.positiontup or ())
        expected = [f"p_{name}" for name in order]
        if names != expected:
            raise AssertionError(f"parameters {names}, bound as {expected}")
        return str(compiled)
