"""The schema by numbered steps: a new database takes all of them, an older one those it lacks.

A step is never changed once it is released. The text index is made here because its words are the
database's own and no table class can say them.
"""

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, inspect, text

from engine.model.errors import BadDatabase
from engine.store import files
from engine.store.tables import (
    ArchivedExecution,
    ArchivedTask,
    ExecutionRow,
    House,
    Table,
    TaskRow,
    table_of,
)

Step = Callable[[Connection], None]


def _first(connection: Connection) -> None:
    Table.metadata.create_all(connection)
    if connection.dialect.name == "sqlite":
        connection.execute(
            text("CREATE VIRTUAL TABLE words USING fts5(body, tokenize='unicode61')")
        )
        return
    connection.execute(text("CREATE TABLE words (rowid BIGINT PRIMARY KEY, body TSVECTOR)"))
    connection.execute(text("CREATE INDEX words_body ON words USING gin (body)"))
    for table in ("task", "execution", "task_before"):
        for column in ("input", "output"):
            connection.execute(
                text(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
            )
    connection.execute(text("ALTER TABLE payload ALTER COLUMN body SET STORAGE EXTERNAL"))
    for table in ("task", "execution"):
        connection.execute(
            text(
                f"ALTER TABLE {table} SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02)"
            )
        )


def _second(connection: Connection) -> None:
    """Archived executions can be searched. Those that are there already count again, and are noted
    for the text index, which takes them up piece by piece (`words.index_words`). A table of
    messages that nothing has ever used goes."""
    entries = [table_of(ArchivedExecution), table_of(ArchivedTask)]
    Table.metadata.create_all(connection, tables=entries)
    connection.execute(text("DROP TABLE IF EXISTS queue_message"))
    connection.execute(
        text(
            "INSERT INTO unindexed (execution) "
            "SELECT key FROM archive WHERE true ON CONFLICT DO NOTHING"
        )
    )
    connection.execute(
        text(
            "INSERT INTO counter (name, status, n) "
            "SELECT name, status, count(*) FROM archive WHERE true GROUP BY name, status "
            "ON CONFLICT (name, status) DO UPDATE SET n = counter.n + excluded.n"
        )
    )


def _fourth(connection: Connection) -> None:
    """What waits and what is stuck can be counted without a look at anything else."""
    added = {"task_waits", "execution_stuck"}
    for model in (TaskRow, ExecutionRow):
        for index in table_of(model).indexes:
            if index.name in added:
                index.create(connection, checkfirst=True)


STEPS: tuple[Step, ...] = (_first, _second, files.add_table, _fourth)
"""Step n brings a database of version n to version n + 1."""


def version_of(connection: Connection) -> int:
    """The schema version; 0 for a database without tables of ours."""
    if not inspect(connection).has_table("house"):
        return 0
    house = table_of(House)
    found = connection.execute(house.select().where(house.c.name == "schema")).first()
    return 0 if found is None else int(found.value)


def upgrade(connection: Connection, place: str, steps: Sequence[Step] = STEPS) -> None:
    """Take the steps that this database lacks; the caller's transaction holds all of them."""
    version = version_of(connection)
    if version > len(steps):
        raise BadDatabase(
            f"{place} has schema version {version}, written by a newer Reprise; this one knows "
            f"version {len(steps)}. Use the newer program, or another database."
        )
    if version == 0:
        foreign = sorted(set(inspect(connection).get_table_names()) & set(Table.metadata.tables))
        if foreign:
            raise BadDatabase(
                f"{place} holds a table {foreign[0]!r} that is not Reprise's. "
                "Give a database (or schema) of its own."
            )
    for step in steps[version:]:
        step(connection)
    if version < len(steps):
        house = table_of(House)
        connection.execute(house.delete().where(house.c.name == "schema"))
        connection.execute(house.insert().values(name="schema", value=len(steps)))
