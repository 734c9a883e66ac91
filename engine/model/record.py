"""What comes from outside: frozen records that keep unknown fields, so a round trip loses nothing.

camelCase outside, snake_case inside. Reading is as lenient as Conductor's clients need and no
more: a null for a number or a flag is its zero, numbers and flags may come as text.
"""

import json
import math
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Self

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from engine.model.errors import InvalidInput, Violation

Json = Any
"""Free-form JSON: None, bool, int, float, str, list or dict of the same."""


def _number(value: Any) -> Any:
    """A null is zero, text and floats that hold a whole number are that number."""
    if value is None:
        return 0
    if isinstance(value, float):
        return int(value)
    return value


def _flag(value: Any) -> Any:
    return False if value is None else value


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) else value


LARGEST = 2**53 - 1
"""What every JSON reader keeps exactly. As seconds it is still a 64-bit number of milliseconds; a
longer one could be read, and never stored."""
_Bounded = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]

Int = Annotated[_Bounded, BeforeValidator(_number)]
"""An integer whose null is 0, as for a primitive of Conductor's records."""
OptionalInt = Annotated[_Bounded | None, BeforeValidator(_whole)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Text = Annotated[str, BeforeValidator(_text)]
OptionalText = Annotated[str | None, BeforeValidator(_text)]


def present(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Those fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


class Record(BaseModel):
    """A frozen record of Conductor's JSON; changed by copy, unknown fields kept."""

    model_config = ConfigDict(
        frozen=True, extra="allow", alias_generator=to_camel, populate_by_name=True
    )

    @classmethod
    def read(cls, value: Json, path: str = "") -> Self:
        """The record in `value`; InvalidInput names every field that cannot be read."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise InvalidInput.of(violations(error, path)) from None

    def json_value(self) -> dict[str, Json]:
        """The record as Conductor writes it: record fields that are null are left out,
        nulls inside free maps and lists are kept."""
        outside = _outside_names(type(self))
        return {outside.get(key, key): _value(value) for key, value in self if value is not None}

    def json_bytes(self) -> bytes:
        """`json_value` encoded."""
        return orjson.dumps(self.json_value())

    def but(self, **changes: Any) -> Self:
        """A copy with some fields changed (not validated again)."""
        return self.model_copy(update=changes)


@cache
def _outside_names(kind: type[BaseModel]) -> dict[str, str]:
    """Field name -> its name in JSON; unknown fields keep theirs."""
    return {name: to_camel(name) for name in kind.model_fields}


def _value(value: Any) -> Json:
    if isinstance(value, Record):
        return value.json_value()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        return {key: _value(item) for key, item in value.items()}
    return value


def violations(error: ValidationError, path: str = "") -> list[Violation]:
    """What pydantic found, in the shape of Conductor's `validationErrors`."""
    found = []
    for item in error.errors(include_url=False):
        place = path
        for step in item["loc"]:
            place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else str(step)
        given = item["input"]
        scalar = isinstance(given, str | int | float | bool)
        found.append(Violation(place, item["msg"], str(given) if scalar else None))
    return found


def encode(value: Json) -> bytes:
    """JSON bytes of a free value; NaN and infinities become null."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        # Whole numbers above 64 bits and values nested very deeply are beyond orjson.
        return _encoded_slowly(value)


def _encoded_slowly(value: Json) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def _finite(value: Json) -> Json:
    """The value with null for NaN and the infinities, which no JSON holds."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def decode(data: bytes | None) -> Json:
    """The value of JSON bytes, long whole numbers exactly; None for no bytes."""
    if data is None:
        return None
    return _decoded_slowly(data) if has_long_number(data) else orjson.loads(data)


def _decoded_slowly(data: bytes) -> Json:
    """What orjson refuses is refused here, too: what is no number, half of a pair of surrogates."""
    text = data.decode()
    value = json.loads(text, parse_constant=_no_constant, parse_float=_bounded)
    if "\\u" in text:
        _encoded_slowly(value)
    return value


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def _bounded(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large for a number with a fraction")
    return number


def has_long_number(data: bytes) -> bool:
    """May there be a whole number beyond 64 bits? orjson would make a double of it."""
    # Many times as fast as a regular expression: this is asked of every payload.
    return _NINETEEN in data.translate(_DIGITS)


_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_NINETEEN = b"0" * 19
