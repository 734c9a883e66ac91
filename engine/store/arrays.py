"""PostgreSQL takes many rows in one statement when each column comes as an array.

A loop over rows costs a message and a plan each; `unnest` costs one for all of them.
"""

import re
from collections.abc import Sequence

from sqlalchemy import Column, Dialect

_VALUES = re.compile(r"VALUES \([^()]*\)")


def for_many(sql: str, columns: Sequence[Column[object]], dialect: Dialect) -> str | None:
    """The statement for many rows that does what `sql` does for one, its parameters one array for
    each of these columns; None for a statement that has no such form."""
    arrays = ", ".join(f"%b::{column.type.compile(dialect)}[]" for column in columns)
    if sql.startswith("INSERT"):
        return _VALUES.sub(f"SELECT * FROM unnest({arrays})", sql, count=1)
    if sql.startswith("UPDATE"):
        return _update(columns, arrays, dialect)
    return None


def _update(columns: Sequence[Column[object]], arrays: str, dialect: Dialect) -> str:
    """The last column is the key."""
    names = [dialect.identifier_preparer.quote(column.name) for column in columns]
    key, table = names[-1], columns[-1].table.name
    changes = ", ".join(f"{name} = given.{name}" for name in names[:-1])
    return (
        f"UPDATE {table} SET {changes} FROM unnest({arrays}) AS given({', '.join(names)}) "
        f"WHERE {table}.{key} = given.{key}"
    )
