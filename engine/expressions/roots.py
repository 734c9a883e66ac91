"""Where `${…}` starts: a root gives values by name, and only when an expression asks for them,
so that a payload which nobody reads is never decoded."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, Protocol

from engine.model.record import Json


class Missing(Enum):
    """Tells "there is none" from a present null."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
ENVIRONMENT: Final = "workflow.env"
SYSTEM_NAMES: Final = frozenset({"CPEWF_TASK_ID", "NETFLIX_ENV", "NETFLIX_STACK"})


class Root(Protocol):
    """What expressions read from.

    Besides `workflow` and the reference names, `get` is asked for three kinds of names: the system
    names, process variables (hand out those of an allow list, no others), and `workflow.env`, whose
    value is the map behind `${workflow.env.NAME}`. None of the three belongs into `names`.
    """

    def get(self, name: str) -> Json | Missing:
        """The whole value of a name, or MISSING."""
        ...

    def field(self, name: str, field: str, only: str | None = None) -> Json | Missing:
        """One member of that value, or MISSING; the other members may stay encoded. Where `only` is
        given, nothing but its member of that name will be looked at: others may be left out."""
        ...

    def names(self) -> Iterable[str]:
        """Every name there is, for the rare expression that looks at all of them."""
        ...


class MappingRoot:
    """A root over plain JSON, as event payloads are; `extra` holds what `names` must not list."""

    __slots__ = ("_extra", "_values")

    def __init__(self, values: Mapping[str, Json], extra: Mapping[str, Json] | None = None) -> None:
        self._values = values
        self._extra = extra or {}

    def get(self, name: str) -> Json | Missing:
        found = self._values.get(name, MISSING)
        return self._extra.get(name, MISSING) if found is MISSING else found

    def field(self, name: str, field: str, only: str | None = None) -> Json | Missing:
        value = self._values.get(name)
        return value.get(field, MISSING) if isinstance(value, dict) else MISSING

    def names(self) -> Iterable[str]:
        return self._values
