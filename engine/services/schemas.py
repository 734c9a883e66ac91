"""Does a value fit a JSON Schema? Used for workflow inputs, task inputs and task outputs."""

from functools import lru_cache
from typing import Any

import orjson
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from engine.model.definitions import SchemaDef
from engine.model.record import Json


def schema_complaint(schema: SchemaDef, value: Json) -> str | None:
    """Why a value does not fit; None when it does, or when the schema is of another kind than
    JSON or not at hand."""
    if schema.type not in (None, "JSON") or not schema.data:
        return None
    try:
        validator = _validator(orjson.dumps(schema.data, option=orjson.OPT_SORT_KEYS))
    except SchemaError as error:
        return f"the schema {schema.name or ''} itself is not valid: {error.message}"
    first = next(iter(sorted(validator.iter_errors(value), key=_depth)), None)
    if first is None:
        return None
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first.path)
    return f"{place.lstrip('.') or 'the value'}: {first.message[:300]}"


def _depth(error: ValidationError) -> int:
    return len(error.path)


@lru_cache(maxsize=256)
def _validator(document: bytes) -> Any:
    schema = orjson.loads(document)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
