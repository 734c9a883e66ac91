"""What is special about single task types."""

import pytest

from engine.model.execution import Execution
from engine.model.facts import Limits
from engine.model.record import Json, decode
from engine.model.status import ExecutionStatus, TaskStatus
from tests.builders import (
    Bench,
    a_child,
    a_definition,
    a_fork,
    a_loop,
    a_switch,
    a_task,
    after,
    an_execution,
    facts_at,
    latest,
    result,
    statuses,
)

DONE = TaskStatus.COMPLETED


def variables(execution: Execution) -> Json:
    return decode(execution.variables)


def test_set_variable_replaces_keys_and_keeps_the_others() -> None:
    first = a_task("s1", "SET_VARIABLE", input_parameters={"x": 1, "y": {"a": 1}})
    second = a_task("s2", "SET_VARIABLE", input_parameters={"y": {"b": 2}})
    assert variables(an_execution(first, second)) == {"x": 1, "y": {"b": 2}}


def test_variables_above_their_limit_fail_the_task_for_good() -> None:
    facts = facts_at(limits=Limits(variables=100))
    big = a_task("s", "SET_VARIABLE", input_parameters={"x": "y" * 200})
    execution = an_execution(big, facts=facts)
    assert latest(execution, "s").status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert variables(execution) == {}


@pytest.mark.parametrize(
    ("value", "reached"), [("one", "a"), (1, "n"), (True, "t"), (None, "d"), ("other", "d")]
)
def test_a_switch_reads_any_value_as_text_and_falls_to_its_default(
    value: Json, reached: str
) -> None:
    cases = {"one": [a_task("a")], "1": [a_task("n")], "true": [a_task("t")]}
    switch = a_switch("s", {**cases, "default": [a_task("d")]})
    execution = an_execution(switch, input={"case": value})
    assert list(statuses(execution)) == ["s", reached]


def test_an_empty_case_is_no_missing_case() -> None:
    switch = a_switch("s", {"one": [], "default": [a_task("d")]})
    execution = an_execution(switch, a_task("end"), input={"case": "one"})
    assert list(statuses(execution)) == ["s", "end"]


def test_the_older_decision_takes_its_default_for_an_empty_case() -> None:
    switch = a_switch("s", {"one": [], "default": [a_task("d")]}, case_value_param="case")
    execution = an_execution(switch.but(type="DECISION"), input={"case": "one"})
    assert list(statuses(execution)) == ["s", "d"]


def test_an_exclusive_join_takes_the_branch_that_was_reached() -> None:
    switch = a_switch("s", {"one": [a_task("a")], "two": [a_task("b")]})
    join = a_task("j", "EXCLUSIVE_JOIN", join_on=("a", "b"))
    execution = an_execution(switch, join, input={"case": "two"})
    after(execution, result(execution, "b", output={"v": 2}))
    assert decode(latest(execution, "j").output) == {"v": 2}
    assert execution.status is ExecutionStatus.COMPLETED


def test_a_fork_without_a_join_behind_it_fails_the_workflow_with_a_reason() -> None:
    fork, _ = a_fork("f", [a_task("a")])
    execution = an_execution(fork, a_task("b"))
    assert execution.status is ExecutionStatus.FAILED
    assert "not followed by a join" in (execution.reason or "")


def test_a_join_shows_the_outputs_of_its_branches_under_their_names() -> None:
    execution = an_execution(*a_fork("f", [a_task("a")], [a_task("b")]))
    after(execution, result(execution, "a", output={"x": 1}), result(execution, "b"))
    assert decode(latest(execution, "join").output) == {"a": {"x": 1}}


def test_a_join_that_waits_for_a_task_that_can_never_come_fails_and_names_it() -> None:
    fork, join = a_fork("f", [a_task("a")])
    execution = an_execution(fork, join.but(join_on=("a", "ghost")))
    after(execution, result(execution, "a"))
    assert execution.status is ExecutionStatus.FAILED
    assert "ghost" in (latest(execution, "join").reason or "")


def test_a_loop_by_condition_runs_at_least_once_and_keeps_each_rounds_outputs() -> None:
    bench = Bench(a_definition(a_loop("l", a_task("a"))))
    bench.conditions = lambda question: question.asked < 2
    w = bench.start()
    for number in (1, 2):
        bench.complete("a", {"n": number})
    assert bench.output(w, "l") == {"1": {"a": {"n": 1}}, "2": {"a": {"n": 2}}, "iteration": 2}


def test_a_loop_above_its_limit_of_rounds_fails_for_good() -> None:
    facts = facts_at(limits=Limits(loop_iterations=3))
    execution = an_execution(a_loop("l", a_task("n", "NOOP"), items=list(range(9))), facts=facts)
    assert latest(execution, "l").status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert "limit of 3 iterations" in (latest(execution, "l").reason or "")


def test_a_child_of_an_unknown_definition_fails_its_task() -> None:
    child = a_task("s", "SUB_WORKFLOW", sub_workflow_param={"name": "nobody", "version": 4})
    execution = an_execution(child)
    assert latest(execution, "s").status is TaskStatus.FAILED
    assert latest(execution, "s").reason == "No such workflow defined. name=nobody, version=4"


def test_a_childs_output_becomes_its_tasks_output() -> None:
    bench = Bench(a_definition(a_child("s", "kid")), a_definition(a_task("k"), name="kid"))
    w = bench.start()
    bench.complete("k", {"v": 5})
    assert bench.output(w, "s") == {"v": 5, "subWorkflowId": bench.run(w, "s").child_id}


def test_a_start_delay_holds_a_first_attempt_back() -> None:
    bench = Bench(a_definition(a_task("a", start_delay=30)))
    bench.start()
    assert bench.poll("a") == []
    bench.advance(30)
    assert len(bench.poll("a")) == 1


@pytest.mark.parametrize("given", [{"duration": "soon"}, {"duration": "1s", "until": "2099-01-01"}])
def test_a_wait_that_makes_no_sense_fails_for_good(given: dict[str, str]) -> None:
    execution = an_execution(a_task("w", "WAIT", input_parameters=given))
    assert latest(execution, "w").status is TaskStatus.FAILED_WITH_TERMINAL_ERROR


def test_a_dynamic_task_without_a_name_fails_the_workflow_with_a_reason() -> None:
    task = a_task("d", "DYNAMIC", dynamic_task_name_param="which")
    execution = an_execution(task)
    assert execution.status is ExecutionStatus.FAILED
    assert "Parameter= which" in (execution.reason or "")


def test_an_unknown_type_word_is_work_for_a_worker_that_polls_it() -> None:
    execution = an_execution(a_task("x", "MY_TYPE"))
    assert (latest(execution, "x").carrier, latest(execution, "x").type) == ("MY_TYPE", "MY_TYPE")
    assert latest(after(execution, result(execution, "x")), "x").status is DONE


@pytest.mark.parametrize("word", ["SUB_WORKFLOW", "SWITCH", "FORK_JOIN", "FORK_JOIN_DYNAMIC"])
def test_a_dynamic_task_that_becomes_what_needs_more_than_a_name_ends_with_a_reason(
    word: str,
) -> None:
    execution = an_execution(
        a_task("d", "DYNAMIC", dynamic_task_name_param="n", input_parameters={"n": word})
    )
    assert execution.status is ExecutionStatus.FAILED
    assert execution.reason


def test_a_loop_without_a_body_fails_and_does_not_wait_for_ever() -> None:
    execution = an_execution(
        a_task("d", "DYNAMIC", dynamic_task_name_param="n", input_parameters={"n": "DO_WHILE"})
    )
    assert execution.status is ExecutionStatus.FAILED
    assert "loopOver is empty" in str(execution.reason)


def test_an_event_for_an_unknown_provider_names_it() -> None:
    execution = an_execution(a_task("e", "EVENT", sink="rabbit:orders"))
    run = latest(execution, "e")
    assert run.status is TaskStatus.FAILED
    assert run.reason == (
        f"Error loading queue:rabbit:orders, for task:{run.task_id}, "
        "error: Unknown queue type rabbit"
    )
