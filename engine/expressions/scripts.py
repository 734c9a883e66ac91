"""Script languages, and what an answer means: a condition's truth, a SWITCH's case. Nothing here
runs a script; whoever needs one run describes it as a ScriptJob and gets a ScriptAnswer."""

from dataclasses import dataclass
from enum import StrEnum

from engine.expressions.java_text import java_text
from engine.model.record import Json

VALUE_PARAM = "value-param"
LONGEST_SCRIPT = 256 * 1024


class Language(StrEnum):
    """What an evaluator can run. LAMBDA is JavaScript in the body of a function."""

    JAVASCRIPT = "javascript"
    LAMBDA = "lambda"
    PYTHON = "python"
    JQ = "jq"


EVALUATORS: dict[str, Language] = {
    "javascript": Language.JAVASCRIPT,
    "graaljs": Language.JAVASCRIPT,
    "python": Language.PYTHON,
}


@dataclass(frozen=True, slots=True)
class ScriptJob:
    """A script to run. `inputs` is what it sees as `$` or `.`: JSON, or bytes that hold it already.
    `seed` makes Math.random repeatable and `now_ms` is the moment that Date shows; both belong to
    the attempt, so that evaluating it again gives the same answer. `takes_secrets`: references to
    secrets in it are replaced at the hand-over."""

    language: Language
    source: str
    inputs: Json | bytes
    seed: int = 0
    now_ms: int | None = None
    check_only: bool = False
    takes_secrets: bool = False


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """`value` unless there is an `error`. jq gives the list of all results as its value.

    `retriable` tells an error that another attempt may not meet: the time limit, or a process that
    was lost. `not_finite` keeps a NaN or an infinity, which no JSON can hold, for those who ask for
    its truth or its case.
    """

    value: Json = None
    error: str | None = None
    logs: tuple[str, ...] = ()
    retriable: bool = False
    not_finite: str | None = None


def value_param(inputs: Json, expression: str) -> Json:
    """The `value-param` evaluator: the expression is a key of the input, not a path."""
    return inputs.get(expression) if isinstance(inputs, dict) else None


def is_true(answer: ScriptAnswer | Json) -> bool:
    """Truth of a condition: true itself and numbers above 0. Texts, lists and maps are false."""
    value = _number_of(answer) if isinstance(answer, ScriptAnswer) else answer
    if isinstance(value, bool):
        return value
    return isinstance(value, int | float) and value > 0


def case_text(answer: ScriptAnswer | Json) -> str:
    """The key that a SWITCH looks for."""
    return java_text(_number_of(answer) if isinstance(answer, ScriptAnswer) else answer)


def _number_of(answer: ScriptAnswer) -> Json:
    return float(answer.not_finite) if answer.not_finite else answer.value
