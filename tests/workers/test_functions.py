"""What a function's parameters, result and exceptions mean for its task."""

import math
from typing import Any

import orjson
import pytest

from engine.model.requests import TaskResult
from engine.model.status import TaskStatus
from engine.workers.functions import (
    Assignment,
    Outcome,
    TaskContext,
    TerminalError,
    Worker,
    binding,
    carry_out,
    current_task,
    worker,
    worker_of,
)


def outcome(call: Any, given: dict[str, Any] | None = None) -> Outcome:
    context = TaskContext("task-1", "workflow-1", "ref")
    return carry_out(Assignment("work", binding(call), given or {}, context))


def output(call: Any, given: dict[str, Any] | None = None) -> Any:
    found = outcome(call, given)
    assert found.status is TaskStatus.COMPLETED, found
    return orjson.loads(found.output)


def test_one_parameter_without_annotation_is_given_the_whole_input() -> None:
    assert output(lambda task: {"got": task}, {"a": 1}) == {"got": {"a": 1}}


def test_one_parameter_that_is_a_dict_is_given_the_whole_input() -> None:
    def work(order: dict[str, Any]) -> Any:
        return order["total"]

    assert output(work, {"total": 7}) == {"result": 7}


def test_one_parameter_of_another_type_is_given_what_bears_its_name() -> None:
    def greet(name: str) -> str:
        return f"Hello {name}"

    assert output(greet, {"name": "Ada", "age": 36}) == {"result": "Hello Ada"}


def test_parameters_are_taken_by_name_and_defaults_hold() -> None:
    def work(amount: int, *, currency: str = "EUR") -> str:
        return f"{amount} {currency}"

    assert output(work, {"amount": 3, "other": True}) == {"result": "3 EUR"}
    assert output(work, {"amount": 3, "currency": "CHF"}) == {"result": "3 CHF"}


def test_open_ended_parameters_are_given_the_rest() -> None:
    def work(a: int, **rest: Any) -> Any:
        return rest

    assert output(work, {"a": 1, "b": 2}) == {"b": 2}


def test_a_missing_input_fails_for_good_and_is_named() -> None:
    def work(amount: int, account: str) -> None: ...

    found = outcome(work, {"amount": 3})
    assert found.status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert found.reason == "BadInput: the input has no account; it has amount"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, {}),
        ({"a": 1}, {"a": 1}),
        ([1, 2], {"result": [1, 2]}),
        ("text", {"result": "text"}),
        (False, {"result": False}),
    ],
)
def test_a_map_is_the_output_and_any_other_json_is_the_result(value: Any, expected: Any) -> None:
    assert output(lambda: value) == expected


def test_an_exception_fails_the_task_with_a_reason_and_its_trace() -> None:
    def work() -> None:
        raise ValueError("no such account")

    found = outcome(work)
    assert found.status is TaskStatus.FAILED
    assert found.reason == "ValueError: no such account"
    assert "no such account" in found.logs[-1] and "in work" in found.logs[-1]
    assert "binding" not in found.logs[-1]


def test_a_terminal_error_is_not_to_be_tried_again() -> None:
    def work() -> None:
        raise TerminalError("the card is stolen")

    class Mine(Exception):
        terminal = True

    def other() -> None:
        raise Mine

    assert outcome(work).status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert outcome(other).status is TaskStatus.FAILED_WITH_TERMINAL_ERROR


def test_a_function_that_wants_to_end_the_process_only_fails() -> None:
    def work() -> None:
        raise SystemExit(3)

    assert outcome(work).reason == "SystemExit: 3"


def test_a_number_that_is_not_finite_becomes_null_and_is_told_of() -> None:
    found = outcome(lambda: {"rates": [1.0, math.nan], "none": None})
    assert orjson.loads(found.output) == {"rates": [1.0, None], "none": None}
    assert found.logs == ("rates[1] of the result is not a finite number; null is stored",)


@pytest.mark.parametrize("value", [{1, 2}, object(), {"deep": [object()]}, "\ud800"])
def test_a_result_that_is_not_json_fails_with_a_clear_reason(value: Any) -> None:
    found = outcome(lambda: value)
    assert found.status is TaskStatus.FAILED
    assert found.reason is not None and found.reason.startswith("The result of work is not JSON: ")


def test_a_result_that_contains_itself_fails_with_a_clear_reason() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert (outcome(lambda: circle).reason or "").startswith("The result of work is not JSON: ")


def test_a_function_may_report_that_it_goes_on_later() -> None:
    found = outcome(
        lambda: TaskResult(
            status="IN_PROGRESS", output_data={"done": 40}, callback_after_seconds=60
        )
    )
    assert (found.status, found.callback_after) == (TaskStatus.IN_PROGRESS, 60)
    assert orjson.loads(found.output) == {"done": 40}


def test_a_report_with_a_status_that_no_worker_may_give_fails() -> None:
    found = outcome(lambda: TaskResult(status="SKIPPED"))
    assert found.status is TaskStatus.FAILED and "SKIPPED" in (found.reason or "")


def test_a_function_knows_its_task_and_adds_to_its_log() -> None:
    def work() -> str:
        current_task().log("half way")
        return current_task().task_id

    found = outcome(work)
    assert orjson.loads(found.output) == {"result": "task-1"}
    assert found.logs == ("half way",)


def test_a_declared_function_stays_an_ordinary_function() -> None:
    @worker("double", domain="eu", poll_count=3)
    def double(n: int) -> int:
        return 2 * n

    assert double(4) == 8
    assert worker_of(double) == Worker("double", double, "eu", 3)


def test_a_function_that_declares_nothing_is_refused_with_advice() -> None:
    def plain() -> None: ...

    with pytest.raises(TypeError, match=r"put @worker\('task_name'\) above it"):
        worker_of(plain)
