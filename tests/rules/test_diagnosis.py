"""What a person is told about an execution that has stopped, or waits."""

from engine.model.definitions import WorkflowTask
from engine.model.events import Pause, Retry, Terminate
from engine.model.execution import Execution
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.diagnosis import Diagnosis, diagnose, fingerprint
from tests.builders import Bench, a_child, a_definition, a_fork, a_loop, a_task, a_task_def


def told(bench: Bench, workflow_id: str) -> Diagnosis:
    def child(wanted: str) -> Execution | None:
        return next((item for item in bench.executions() if item.id == wanted), None)

    return diagnose(bench.execution(workflow_id), bench.clock.now(), child)


def a_bench(*tasks: object, **policy: object) -> Bench:
    return Bench(a_definition(*tasks), task_defs=[a_task_def("a", **policy)])  # type: ignore[arg-type]


def test_a_failure_is_told_with_its_task_its_attempt_and_its_reason() -> None:
    bench = a_bench(a_task("a"), retry_count=1)
    w = bench.start()
    bench.fail("a", "card declined")
    bench.fail("a", "card declined")
    found = told(bench, w)
    assert found.headline == "a failed at attempt 2: card declined"
    assert found.cause is not None and found.cause.attempts == 2
    assert found.next_steps[0].startswith("Retry: a new attempt of a")


def test_the_root_of_a_failure_is_found_through_sub_workflows() -> None:
    bench = Bench(
        a_definition(a_child("outer", "middle")),
        a_definition(a_child("inner", "kid"), name="middle"),
        a_definition(a_task("a"), name="kid"),
        task_defs=[a_task_def("a")],
    )
    w = bench.start()
    bench.fail("a", "no route")
    found = told(bench, w)
    assert found.cause is not None
    assert (found.cause.workflow, found.cause.reference, len(found.path)) == ("kid", "a", 3)
    assert found.headline == "a in its sub-workflow kid failed: no route"
    assert "sub-workflow tasks resumed" in found.next_steps[0]


def a_family(*tasks: WorkflowTask, **policy: object) -> Bench:
    """An execution whose grandchild has these tasks."""
    return Bench(
        a_definition(a_child("outer", "middle")),
        a_definition(a_child("inner", "kid"), name="middle"),
        a_definition(*tasks, name="kid", **policy),
        task_defs=[a_task_def("a")],
    )


def grandchild_of(bench: Bench, workflow_id: str) -> str:
    middle = bench.run(workflow_id, "outer").child_id or ""
    return bench.run(middle, "inner").child_id or ""


def test_a_sub_workflow_that_its_terminate_ended_is_the_cause_with_its_own_reason() -> None:
    given = {"terminationStatus": "FAILED", "terminationReason": "stock is empty"}
    bench = a_family(a_task("stop", "TERMINATE", input_parameters=given))
    w = bench.start()
    found = told(bench, w)
    assert found.headline == "stop ended its sub-workflow kid as FAILED: stock is empty"
    cause, kid = found.cause, grandchild_of(bench, w)
    assert cause is not None and len(found.path) == 3
    assert (cause.workflow_id, cause.reference, cause.type) == (kid, "stop", "TERMINATE")
    assert (cause.reason, cause.task_id) == ("stock is empty", bench.run(kid, "stop").task_id)
    assert found.next_steps[0].startswith("See what leads to stop")


def test_a_sub_workflow_without_a_failed_task_of_its_own_is_the_cause_itself() -> None:
    bench = a_family(a_task("a"))
    w = bench.start()
    kid = grandchild_of(bench, w)
    bench.ask(kid, Terminate(reason="wrong customer"))
    found = told(bench, w)
    assert found.headline == "Its sub-workflow kid is TERMINATED: wrong customer"
    assert found.path[-1] == kid and found.cause is not None
    assert found.cause.json_value() == {
        "workflowId": kid,
        "workflow": "kid",
        "status": "TERMINATED",
        "reason": "wrong customer",
    }


def test_a_sub_workflow_that_ran_out_of_time_is_the_cause_and_is_begun_anew_by_a_retry() -> None:
    bench = a_family(a_task("a"), timeout_seconds=10, timeout_policy="TIME_OUT_WF")
    w = bench.start()
    kid = grandchild_of(bench, w)
    bench.advance(11)
    found = told(bench, w)
    assert found.cause is not None and found.cause.status is ExecutionStatus.TIMED_OUT
    assert found.next_steps[:2] == (
        "See what kid waited for, or give it longer.",
        "Retry: outer begins its sub-workflow anew.",
    )
    bench.ask(w, Retry())
    assert grandchild_of(bench, w) != kid


def test_a_sub_workflow_that_goes_on_or_is_well_by_now_is_no_cause() -> None:
    bench = a_family(a_task("a"))
    w = bench.start()
    bench.fail("a", "no route")
    other = a_bench(a_task("a"))
    begun = other.start()
    for _ in range(2):
        found = diagnose(bench.execution(w), 0, lambda _: other.execution(begun))
        assert found.cause is not None and found.path == (w,)
        assert found.cause.reference == "outer"
        if other.execution(begun).status is ExecutionStatus.RUNNING:
            other.complete("a")
    assert other.execution(begun).status is ExecutionStatus.COMPLETED


def test_a_join_or_a_loop_is_never_the_root() -> None:
    fork = a_fork("f", [a_task("a", permissive=True)], [a_task("b", "NOOP")])
    bench = a_bench(*fork)
    w = bench.start()
    bench.fail("a", "broken")
    cause = told(bench, w).cause
    assert cause is not None and cause.reference == "a"


def test_a_task_that_nobody_took_asks_for_a_worker() -> None:
    bench = a_bench(a_task("a"), poll_timeout_seconds=10, timeout_policy="TIME_OUT_WF")
    w = bench.start()
    bench.advance(11)
    assert told(bench, w).next_steps[0] == "No worker took it in time: start one that polls a."


def test_a_silent_worker_is_named() -> None:
    bench = a_bench(a_task("a"), response_timeout_seconds=10)
    w = bench.start()
    bench.poll("a")
    bench.advance(11)
    found = told(bench, w)
    assert found.headline.startswith("a ran out of time: responseTimeout")
    assert found.next_steps[0].startswith("w was not heard of in time")


def test_an_execution_that_a_person_ended_has_a_reason_and_no_root() -> None:
    bench = a_bench(a_task("a"))
    w = bench.start()
    bench.ask(w, Terminate(reason="wrong customer"))
    found = told(bench, w)
    assert (found.headline, found.cause) == ("It is TERMINATED: wrong customer", None)


def test_the_same_failure_has_the_same_fingerprint_whatever_its_ids_and_numbers() -> None:
    first = fingerprint("w", "a", "timeout after 31 s for 018bcfe5-6800-70c1-8e7c-ba1de146b368")
    second = fingerprint("w", "a", "timeout after 7.5 s for 118bcfe5-6800-70c1-8e7c-ba1de146b369")
    assert first == second
    assert first != fingerprint("w", "b", "timeout after 31 s for 018bcfe5")
    assert first != fingerprint("w", "a", "connection refused")


def test_the_iteration_of_a_loop_does_not_change_a_fingerprint() -> None:
    found = []
    for rounds in (1, 2):
        bench = a_bench(a_loop("l", a_task("a"), items=[1, 2, 3]))
        w = bench.start()
        for _ in range(rounds):
            bench.complete("a")
        bench.fail("a", "broken")
        found.append(told(bench, w).fingerprint)
    assert found[0] == found[1]


def test_ready_work_waits_for_a_worker_of_its_queue() -> None:
    bench = a_bench(a_task("a"))
    w = bench.start(task_to_domain={"a": "eu"})
    bench.advance(180)
    found = told(bench, w)
    assert found.headline == "a has waited 3 minutes for a worker of domain eu that polls a"
    assert found.next_steps == ("See that a worker polls a in domain eu.",)


def test_what_the_engine_carries_out_itself_needs_no_worker() -> None:
    bench = Bench(a_definition(a_task("call", "HTTP")))
    w = bench.start()
    bench.advance(5)
    execution, now = bench.execution(w), bench.clock.now()
    found = diagnose(execution, now, own=[("HTTP", None)])
    assert found.headline == "call has waited 5 seconds for the engine to carry it out"
    assert found.next_steps == ("Nothing: it goes on by itself.",)
    elsewhere = diagnose(execution, now, own=[("HTTP", "eu")])
    assert elsewhere.next_steps == ("See that a worker polls HTTP.",)


def test_a_delayed_retry_of_what_the_engine_carries_out_says_when() -> None:
    bench = a_bench(a_task("a"), retry_count=1, retry_delay_seconds=90)
    w = bench.start()
    bench.fail("a")
    found = diagnose(bench.execution(w), bench.clock.now(), own=[("a", None)])
    assert found.headline == "a is carried out in 1 minute (attempt 2)"


def test_work_in_hand_says_with_whom_and_until_when() -> None:
    bench = a_bench(a_task("a"), response_timeout_seconds=60)
    w = bench.start()
    bench.poll("a")
    bench.advance(10)
    headline = told(bench, w).headline
    assert headline == "a has been with w for 10 seconds, and is given up in 50 seconds"


def test_a_delayed_retry_says_when_it_can_be_polled() -> None:
    bench = a_bench(a_task("a"), retry_count=1, retry_delay_seconds=90)
    w = bench.start()
    bench.fail("a")
    assert told(bench, w).headline == "a can be polled in 1 minute (attempt 2)"


def test_everything_that_is_waited_for_is_listed() -> None:
    wait = a_task("timer", "WAIT", input_parameters={"duration": "2h"})
    branches = [wait], [a_task("human", "HUMAN")], [a_child("sub", "kid")]
    bench = Bench(a_definition(*a_fork("f", *branches)), a_definition(a_task("a"), name="kid"))
    w = bench.start()
    found = told(bench, w)
    child = bench.run(w, "sub").child_id
    assert found.waiting == (
        "timer goes on in 2 hours",
        "human has waited 0 seconds for somebody to complete it",
        f"sub has waited 0 seconds for its sub-workflow {child}",
    )
    assert found.next_steps == (
        "Complete human, or let its sender know.",
        f"Look at the sub-workflow {child}.",
    )
    bench.ask(w, Pause())
    assert told(bench, w).headline == "It is paused until somebody resumes it (and 3 more)"


def test_what_goes_on_by_itself_needs_nobody() -> None:
    wait = a_task("timer", "WAIT", input_parameters={"duration": "2h"})
    bench = Bench(a_definition(wait))
    assert told(bench, bench.start()).next_steps == ("Nothing: it goes on by itself.",)


def test_a_stuck_execution_shows_the_error_and_what_goes_on_all_the_same() -> None:
    bench = a_bench(a_task("a"))
    w = bench.start()
    execution = bench.execution(w)
    execution.stuck = "Result could not be taken: KeyError: 'x'"
    found = diagnose(execution, bench.clock.now())
    assert "KeyError" in found.headline and found.fingerprint is not None
    assert found.waiting == ("a has waited 0 seconds for a worker that polls a",)


def test_a_completed_execution_needs_nothing() -> None:
    bench = a_bench(a_task("a"))
    w = bench.start()
    bench.complete("a")
    assert told(bench, w).next_steps == ()
    assert bench.run(w, "a").status is TaskStatus.COMPLETED
