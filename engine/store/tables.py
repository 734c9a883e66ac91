"""Every table, once. The statements, the schema and the queries are all made from these classes.

Times are epoch milliseconds, documents are bytes of JSON, payload columns come last so that a read
without them does not pass over them. The queue and the timers are partial indexes, not tables.
"""

from typing import Any

from sqlalchemy import BigInteger, Index, Integer, PrimaryKeyConstraint, text
from sqlalchemy import Table as SqlTable
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

BIG = BigInteger().with_variant(Integer, "sqlite")
"""64 bits in either database; SQLite's row number must be declared INTEGER."""

TASK_OPEN = "status IN ('SCHEDULED', 'IN_PROGRESS')"
EXECUTION_LIVE = "status NOT IN ('COMPLETED', 'FAILED', 'TIMED_OUT', 'TERMINATED')"
"""Said in the negative, so that SQLite does not prefer the index of all statuses to the partial
ones, which stay small whatever the history."""
QUEUED = f"carrier IS NOT NULL AND {TASK_OPEN}"
TAKEN = "status = 'IN_PROGRESS' AND carrier IS NOT NULL"
TASK_WAKES = f"wake_at > 0 AND {TASK_OPEN}"
EXECUTION_WAKES = f"wake_at > 0 AND {EXECUTION_LIVE}"

GATED = f"rate_limit_key IS NOT NULL AND {EXECUTION_LIVE}"
STUCK = f"stuck IS NOT NULL AND {EXECUTION_LIVE}"
TASK_WAITS = (
    "carrier IS NULL AND type IN ('EVENT', 'HUMAN', 'PULL_WORKFLOW_MESSAGES', 'WAIT') "
    f"AND {TASK_OPEN}"
)
"""Attempts that a person, an instant or a message moves on, and no worker."""

HIGHEST_REMOVED = "highest_removed_key"
"""The line of `house` that keeps numbers of removed executions from being given again."""


def _where(name: str, condition: str, *columns: Any) -> Index:
    """A partial index; a query uses it when it repeats the condition word for word."""
    clause = text(condition)
    return Index(name, *columns, sqlite_where=clause, postgresql_where=clause)


class Table(SQLModel, registry=registry()):
    """The root of the engine's tables, with a registry of its own: the studio's desk has another."""


def table_of(model: type[Table]) -> SqlTable:
    """The table behind a class."""
    found: SqlTable = model.__table__  # type: ignore[attr-defined]
    return found


class House(Table, table=True):
    """Facts about the database itself: schema version, change numbers, the highest key removed."""

    __tablename__ = "house"
    name: str = Field(primary_key=True)
    value: int = Field(sa_type=BIG)


class DefinitionSnapshot(Table, table=True):
    """A definition as executions run by it; a million executions of a version share one row."""

    __tablename__ = "definition_snapshot"
    hash: str = Field(primary_key=True)
    body: bytes


class WorkflowDefinition(Table, table=True):
    """A registered definition, kept as it was sent."""

    __tablename__ = "workflow_definition"
    name: str = Field(primary_key=True)
    version: int = Field(primary_key=True, sa_type=BIG)
    created_at: int = Field(sa_type=BIG)
    updated_at: int = Field(sa_type=BIG)
    body: bytes


class DefinitionText(Table, table=True):
    """A registered definition as its author laid it out."""

    __tablename__ = "definition_text"
    name: str = Field(primary_key=True)
    version: int = Field(primary_key=True, sa_type=BIG)
    text: str


class TaskDefinition(Table, table=True):
    """A registered task definition, kept as it was sent."""

    __tablename__ = "task_definition"
    name: str = Field(primary_key=True)
    created_at: int = Field(sa_type=BIG)
    updated_at: int = Field(sa_type=BIG)
    body: bytes


class EventHandler(Table, table=True):
    """What is done with the messages of an event queue."""

    __tablename__ = "event_handler"
    name: str = Field(primary_key=True)
    event: str = Field(index=True)
    active: bool
    body: bytes


class Schedule(Table, table=True):
    """A workflow that is started by the clock."""

    __tablename__ = "schedule"
    __table_args__ = (_where("schedule_next", "next_run_at > 0", "next_run_at"),)
    name: str = Field(primary_key=True)
    workflow_name: str = Field(index=True)
    paused: bool
    next_run_at: int = Field(default=0, sa_type=BIG)
    """0 for never."""
    last_run_at: int = Field(default=0, sa_type=BIG)
    """The slot that was last served, as it was planned."""
    body: bytes


class Firing(Table, table=True):
    """One slot of a schedule that came due."""

    __tablename__ = "firing"
    __table_args__ = (
        Index("firing_of", "schedule_name", "scheduled_at"),
        Index("firing_at", "scheduled_at"),
    )
    id: str = Field(primary_key=True)
    schedule_name: str
    scheduled_at: int = Field(sa_type=BIG)
    executed_at: int = Field(sa_type=BIG)
    workflow_name: str
    workflow_id: str | None = None
    state: str
    body: bytes


class Tag(Table, table=True):
    """A label on a definition."""

    __tablename__ = "tag"
    kind: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    value: str


class _Listed(Table):
    """The columns of an execution that lists and searches know, living or archived."""

    key: int = Field(primary_key=True, sa_type=BIG, sa_column_kwargs={"autoincrement": False})
    id: str = Field(unique=True)
    name: str
    version: int = Field(sa_type=BIG)
    status: str
    definition_hash: str
    correlation_id: str | None = None
    priority: int = Field(sa_type=BIG)
    parent_id: str | None = None
    parent_task_id: str | None = None
    owner_app: str | None = None
    created_by: str | None = None
    updated_by: str | None = None
    event: str | None = None
    idempotency_key: str | None = None
    task_to_domain: str | None = None
    created_at: int = Field(sa_type=BIG)
    updated_at: int = Field(sa_type=BIG)
    ended_at: int = Field(sa_type=BIG)
    reason: str | None = None
    failed_refs: str | None = None
    failed_names: str | None = None
    stuck: str | None = None
    isolated: bool
    input_path: str | None = None
    output_path: str | None = None


class ExecutionRow(_Listed, table=True):
    """An execution; its columns are the stored fields of `Execution`."""

    __tablename__ = "execution"
    __table_args__ = (
        _where("execution_due", EXECUTION_WAKES, "wake_at"),
        _where("execution_gated", GATED, "key"),
        _where("execution_stuck", STUCK, "name"),
        Index("execution_new", text("created_at DESC")),
        Index("execution_by_status", "status", text("created_at DESC")),
        Index("execution_by_name", "name", "status", text("created_at DESC")),
        _where("execution_correlated", "correlation_id IS NOT NULL", "correlation_id"),
        _where("execution_child", "parent_id IS NOT NULL", "parent_id"),
    )
    last_retried_at: int = Field(sa_type=BIG)
    wake_at: int = Field(sa_type=BIG)
    failed_task_id: str | None = None
    rerun_from: str | None = None
    rate_limit_key: str | None = None
    rate_limited: bool
    next_seq: int = Field(sa_type=BIG)
    seq_base: int = Field(sa_type=BIG)
    line: int = Field(sa_type=BIG)
    variables: bytes
    mailbox: bytes
    input: bytes | None = None
    output: bytes | None = None


class _Attempt(Table):
    """The columns of an attempt: the fields of `Run`."""

    execution: int = Field(sa_type=BIG)
    seq: int = Field(sa_type=BIG)
    task_id: str
    ref: str
    reference: str
    type: str
    name: str
    status: str
    iteration: int = Field(sa_type=BIG)
    attempt: int = Field(sa_type=BIG)
    retried_task_id: str | None = None
    retried: bool
    executed: bool
    carrier: str | None = None
    domain: str | None = None
    priority: int = Field(sa_type=BIG)
    due_at: int = Field(sa_type=BIG)
    wake_at: int = Field(sa_type=BIG)
    scheduled_at: int = Field(sa_type=BIG)
    queued_at: int = Field(sa_type=BIG)
    first_scheduled_at: int = Field(sa_type=BIG)
    started_at: int = Field(sa_type=BIG)
    updated_at: int = Field(sa_type=BIG)
    ended_at: int = Field(sa_type=BIG)
    start_delay: int = Field(sa_type=BIG)
    callback_after: int = Field(sa_type=BIG)
    poll_count: int = Field(sa_type=BIG)
    worker: str | None = None
    reason: str | None = None
    child_id: str | None = None
    child_changed: bool
    input_path: str | None = None
    output_path: str | None = None
    fork: str | None = None


class TaskRow(_Attempt, table=True):
    """One attempt at one task. `task_open` is the queue, `task_due` the timers."""

    __tablename__ = "task"
    __table_args__ = (
        PrimaryKeyConstraint("execution", "seq"),
        _where("task_open", QUEUED, "carrier", text("priority DESC"), "due_at", "execution", "seq"),
        _where("task_due", TASK_WAKES, "wake_at"),
        _where("task_taken", TAKEN, "name"),
        _where("task_waits", TASK_WAITS, "execution"),
    )
    metadata_: bytes | None = Field(
        default=None, sa_column_kwargs={"name": "metadata", "key": "metadata"}
    )
    node: bytes | None = None
    input: bytes | None = None
    output: bytes | None = None


class TaskBefore(_Attempt, table=True):
    """An attempt as it was before it was reopened in place or removed."""

    __tablename__ = "task_before"
    __table_args__ = (Index("task_before_of", "execution", "seq"),)
    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    metadata_: bytes | None = Field(
        default=None, sa_column_kwargs={"name": "metadata", "key": "metadata"}
    )
    node: bytes | None = None
    input: bytes | None = None
    output: bytes | None = None


class Payload(Table, table=True):
    """A large value under the hash of its content, shared by all who repeat it."""

    __tablename__ = "payload"
    hash: bytes = Field(primary_key=True)
    size: int = Field(sa_type=BIG)
    codec: int
    body: bytes


class PayloadUse(Table, table=True):
    """Which executions refer to a large value, so that the last one takes it along."""

    __tablename__ = "payload_use"
    __table_args__ = (Index("payload_use_by", "hash"), {"sqlite_with_rowid": False})
    execution: int = Field(primary_key=True, sa_type=BIG)
    hash: bytes = Field(primary_key=True)


class FileUse(Table, table=True):
    """Which executions, archived ones too, refer to a payload that is a file."""

    __tablename__ = "file_use"
    __table_args__ = (Index("file_use_by", "path"), {"sqlite_with_rowid": False})
    execution: int = Field(primary_key=True, sa_type=BIG)
    path: str = Field(primary_key=True)


class LetterRow(Table, table=True):
    """What one execution tells another and that one has not heard yet."""

    __tablename__ = "letter"
    __table_args__ = ({"sqlite_autoincrement": True},)
    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    to_id: str
    sender: str | None = None
    kind: str
    body: bytes


class Outbox(Table, table=True):
    """What the outside is to be told, at least once."""

    __tablename__ = "outbox"
    __table_args__ = ({"sqlite_autoincrement": True},)
    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    execution: int = Field(sa_type=BIG)
    topic: str
    created_at: int = Field(sa_type=BIG)
    body: bytes


class Ledger(Table, table=True):
    """What happened to an execution, by whom and why; only ever added to."""

    __tablename__ = "ledger"
    execution: int = Field(primary_key=True, sa_type=BIG)
    line: int = Field(primary_key=True, sa_type=BIG)
    at: int = Field(sa_type=BIG)
    cause: str
    by: str | None = None
    why: str | None = None
    chain: str
    body: bytes


class TaskLogRow(Table, table=True):
    """A line of an attempt's log."""

    __tablename__ = "task_log"
    __table_args__ = (Index("task_log_of", "execution", "seq"),)
    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    execution: int = Field(sa_type=BIG)
    seq: int = Field(sa_type=BIG)
    task_id: str
    at: int = Field(sa_type=BIG)
    line: str


class Counter(Table, table=True):
    """How many executions of a name are in a status; kept in the group that changes it."""

    __tablename__ = "counter"
    name: str = Field(primary_key=True)
    status: str = Field(primary_key=True)
    n: int = Field(sa_type=BIG)


class Unindexed(Table, table=True):
    """Executions whose words the text index does not know yet."""

    __tablename__ = "unindexed"
    execution: int = Field(primary_key=True, sa_type=BIG, sa_column_kwargs={"autoincrement": False})


class Idempotency(Table, table=True):
    """Which execution an idempotency key has started."""

    __tablename__ = "idempotency"
    workflow_name: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    workflow_id: str


class WorkerSeen(Table, table=True):
    """When a worker last asked for tasks."""

    __tablename__ = "worker_seen"
    queue: str = Field(primary_key=True)
    domain: str = Field(primary_key=True)
    """Empty for none."""
    worker: str = Field(primary_key=True)
    at: int = Field(sa_type=BIG)


class EventExecution(Table, table=True):
    """What one action of one handler did with one message; its id makes a repeat harmless."""

    __tablename__ = "event_execution"
    id: str = Field(primary_key=True)
    event: str = Field(primary_key=True)
    handler: str = Field(primary_key=True)
    message_id: str
    status: str
    created_at: int = Field(sa_type=BIG, index=True)
    body: bytes


class Archive(Table, table=True):
    """An ended execution as one document, out of the way of the tables above."""

    __tablename__ = "archive"
    key: int = Field(primary_key=True, sa_type=BIG, sa_column_kwargs={"autoincrement": False})
    id: str = Field(unique=True)
    name: str
    status: str
    created_at: int = Field(sa_type=BIG)
    ended_at: int = Field(sa_type=BIG, index=True)
    archived_at: int = Field(sa_type=BIG)
    body: bytes


class ArchivedExecution(_Listed, table=True):
    """What lists and searches know about an archived execution, so that none opens its document."""

    __tablename__ = "archived_execution"
    __table_args__ = (
        Index("archived_execution_new", text("created_at DESC")),
        Index("archived_execution_by_status", "status", text("created_at DESC")),
        Index("archived_execution_by_name", "name", "status", text("created_at DESC")),
        _where("archived_execution_correlated", "correlation_id IS NOT NULL", "correlation_id"),
        _where("archived_execution_child", "parent_id IS NOT NULL", "parent_id"),
        Index("archived_execution_ended", "status", "ended_at"),
    )
    input: bytes | None = None
    """Compressed, as the output is."""
    output: bytes | None = None


class ArchivedTask(Table, table=True):
    """What searches know about an attempt of an archived execution."""

    __tablename__ = "archived_task"
    __table_args__ = (
        PrimaryKeyConstraint("execution", "seq"),
        Index("archived_task_by_type", "type", "execution", "seq"),
        Index("archived_task_by_name", "name", "execution", "seq"),
        Index("archived_task_by_status", "status", "execution", "seq"),
    )
    execution: int = Field(sa_type=BIG)
    seq: int = Field(sa_type=BIG)
    task_id: str
    reference: str
    type: str
    name: str
    status: str
    domain: str | None = None
    priority: int = Field(sa_type=BIG)
    scheduled_at: int = Field(sa_type=BIG)
    started_at: int = Field(sa_type=BIG)
    updated_at: int = Field(sa_type=BIG)
    ended_at: int = Field(sa_type=BIG)
    worker: str | None = None
    reason: str | None = None
