"""Test data that was played on a real Conductor server: one JSON object a line, under tests/data."""

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")


def rows(name: str) -> list[dict[str, Any]]:
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def document(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def exact(value: Any) -> str:
    """A text that is equal only for equal values of equal types: 3 is not 3.0, nor is -0.0 0.0."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def by_id(row: dict[str, Any]) -> str:
    return str(row["id"])
