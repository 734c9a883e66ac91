"""What people who run such engines reported: each as the behaviour that they should have met.

The number in a name is that of the report.
"""

import random

import pytest

from engine.model.definitions import WorkflowDef, WorkflowTask
from engine.model.events import (
    Decide,
    Pause,
    Rerun,
    Restart,
    Resume,
    Retry,
    Skip,
    Terminate,
)
from engine.model.record import Json
from engine.model.status import ExecutionStatus, TaskStatus
from tests.builders import (
    Bench,
    a_child,
    a_definition,
    a_dynamic_fork,
    a_fork,
    a_loop,
    a_switch,
    a_task,
    a_task_def,
)

RUNNING, COMPLETED = ExecutionStatus.RUNNING, ExecutionStatus.COMPLETED
FAILED, TIMED_OUT = ExecutionStatus.FAILED, ExecutionStatus.TIMED_OUT
DONE, AT_WORK, READY = TaskStatus.COMPLETED, TaskStatus.IN_PROGRESS, TaskStatus.SCHEDULED


def a_bench(*definitions: WorkflowDef, **policies: dict[str, object]) -> Bench:
    """Every SIMPLE task without a policy has no retries."""
    names = {
        task.name or ""
        for definition in definitions
        for task in definition.all_tasks()
        if task.type == "SIMPLE"
    }
    defs = [a_task_def(name, **policies.get(name, {})) for name in names | policies.keys()]
    return Bench(*definitions, task_defs=defs)


def kid(*refs: str, name: str = "kid") -> WorkflowDef:
    return a_definition(*(a_task(ref) for ref in refs or ("k",)), name=name)


def test_fr_001_a_rerun_in_one_branch_does_not_start_the_children_of_others_again() -> None:
    branches = [[a_task(f"{b}1"), a_child(f"{b}2", "kid")] for b in "abc"]
    bench = a_bench(a_definition(*a_fork("f", *branches), a_task("end")), kid())
    w = bench.start()
    for ref in ("a1", "b1", "c1", "k", "k", "k", "end"):
        bench.complete(ref)
    before = {ref: bench.run(w, ref).child_id for ref in ("a2", "b2", "c2")}
    bench.ask(w, Rerun(task_id=bench.run(w, "b1").task_id))
    for ref in ("b1", "k", "end"):
        bench.complete(ref)
    bench.expect(w, COMPLETED)
    after = {ref: bench.run(w, ref).child_id for ref in ("a2", "b2", "c2")}
    assert (after["a2"], after["c2"]) == (before["a2"], before["c2"])
    assert after["b2"] != before["b2"]


def three_steps() -> Bench:
    parent = a_definition(a_task("p0"), a_child("s", "kid"), a_task("p1"))
    bench = a_bench(parent, kid("t1", "t2", "t3"))
    bench.start()
    for ref in ("p0", "t1", "t2"):
        bench.complete(ref)
    bench.fail("t3")
    return bench


def test_fr_002_a_retry_of_the_parent_starts_one_new_child_from_its_first_step() -> None:
    bench, w = three_steps(), "order-1"
    old = bench.run(w, "s").child_id
    bench.ask(w, Retry())
    assert bench.run(w, "s").child_id != old
    for ref in ("t1", "t2", "t3", "p1"):
        bench.complete(ref)
    bench.expect(w, COMPLETED)


@pytest.mark.parametrize("through", ["parent", "child"])
def test_fr_002_a_resumed_child_goes_on_in_its_failed_step_and_revives_its_parent(
    through: str,
) -> None:
    bench, w = three_steps(), "order-1"
    child = bench.run(w, "s").child_id or ""
    if through == "parent":
        bench.ask(w, Retry(resume_subworkflow_tasks=True))
    else:
        bench.ask(child, Retry())
    bench.expect(w, RUNNING, s=AT_WORK)
    assert (bench.poll("t1"), bench.poll("t2"), bench.poll("p0")) == ([], [], [])
    assert bench.run(child, "t3").attempt == 1
    bench.complete("t3")
    bench.complete("p1")
    assert (bench.status(w), bench.status(child)) == (COMPLETED, COMPLETED)


def test_fr_003_a_retried_child_revives_its_cancelled_siblings_and_their_join() -> None:
    branches = [a_child("a", "kid")], [a_child("b", "kid")], [a_task("c")]
    bench = a_bench(a_definition(*a_fork("f", *branches, join="j"), a_task("end")), kid())
    w = bench.start()
    child = bench.run(w, "a").child_id or ""
    bench.answer(child, "k", TaskStatus.FAILED)
    bench.expect(w, FAILED, c=TaskStatus.CANCELED, j=TaskStatus.CANCELED)
    bench.ask(child, Retry())
    bench.expect(w, RUNNING, a=AT_WORK, b=AT_WORK, c=READY, j=AT_WORK)
    found = bench.execution(w)
    assert (found.reason, found.failed_refs, found.failed_names) == (None, (), ())
    pairs = [(run.reference, run.attempt) for run in found.runs.values()]
    assert len(pairs) == len(set(pairs))
    for ref in ("k", "k", "c", "end"):
        bench.complete(ref)
    bench.expect(w, COMPLETED)


def test_fr_004_a_rerun_task_has_its_whole_time_again() -> None:
    policy = {"timeout_seconds": 60, "response_timeout_seconds": 60}
    bench = a_bench(a_definition(a_task("slow")), slow=policy)
    w = bench.start()
    bench.fail("slow", for_good=True)
    bench.advance(7200)
    bench.ask(w, Rerun(task_id=bench.run(w, "slow").task_id))
    run = bench.run(w, "slow")
    assert (run.started_at, run.poll_count, run.output, run.reason) == (0, 0, b"{}", None)
    assert run.scheduled_at == bench.clock.now()
    (handed,) = bench.poll("slow")
    bench.advance(10)
    bench.report(handed, DONE)
    bench.expect(w, COMPLETED)


def test_fr_005_a_retry_gives_parent_and_child_a_new_workflow_timeout() -> None:
    limit = {"timeout_seconds": 100, "timeout_policy": "TIME_OUT_WF"}
    child_definition = a_definition(a_task("x"), name="kid", **limit)
    bench = a_bench(a_definition(a_child("s", "kid"), **limit), child_definition)
    w = bench.start()
    child = bench.run(w, "s").child_id or ""
    bench.advance(101)
    assert (bench.status(w), bench.status(child)) == (TIMED_OUT, TIMED_OUT)
    bench.ask(child, Retry())
    bench.advance(99)
    assert (bench.status(w), bench.status(child)) == (RUNNING, RUNNING)
    bench.complete("x")
    assert (bench.status(w), bench.status(child)) == (COMPLETED, COMPLETED)


def test_fr_006_a_failed_task_inside_a_loop_is_retried_in_its_iteration() -> None:
    bench = a_bench(a_definition(a_loop("l", a_task("a"), a_task("b")), a_task("end")))
    bench.conditions = lambda question: question.asked < 5
    w = bench.start()
    for _ in range(2):
        bench.complete("a")
        bench.complete("b")
    bench.complete("a")
    bench.fail("b")
    kept = bench.run(w, "a__3").task_id
    bench.ask(w, Retry())
    assert (bench.run(w, "l").iteration, bench.run(w, "b__3").attempt) == (3, 1)
    assert bench.run(w, "a__3").task_id == kept
    bench.complete("b")
    for _ in range(2):
        bench.complete("a")
        bench.complete("b")
    bench.complete("end")
    bench.expect(w, COMPLETED)
    assert set(bench.output(w, "l")) == {"1", "2", "3", "4", "5", "iteration"}


def test_fr_007_a_repetition_uses_the_snapshot_unless_the_latest_is_asked_for() -> None:
    good = a_definition(a_task("good"))
    bench = a_bench(a_definition(a_task("bad")), good)
    bench.register(a_definition(a_task("bad")))
    w = bench.start()
    bench.fail("bad")
    bench.register(good)
    bench.core.knowledge.changed()
    bench.ask(w, Retry())
    bench.fail("bad")
    bench.ask(w, Restart())
    bench.fail("bad")
    found = bench.core.knowledge.definition("order", None)
    assert found is not None
    bench.ask(w, Restart(definition=found.definition, definition_hash=found.hash))
    bench.complete("good")
    bench.expect(w, COMPLETED)


def test_fr_008_a_join_waits_for_the_others_when_an_optional_branch_has_failed() -> None:
    branches = [a_task("opt", optional=True)], [a_task("slow")]
    use = a_task("use", input_parameters={"in": "${j.output.slow.v}"})
    bench = a_bench(a_definition(*a_fork("f", *branches, join="j"), use))
    w = bench.start()
    bench.fail("opt")
    bench.expect(w, RUNNING, opt=TaskStatus.COMPLETED_WITH_ERRORS, j=AT_WORK)
    bench.complete("slow", {"v": 7})
    bench.expect(w, RUNNING, j=TaskStatus.COMPLETED_WITH_ERRORS)
    (handed,) = bench.poll("use")
    assert handed.input == b'{"in":7}'


@pytest.mark.parametrize("seed", range(20))
def test_fr_009_an_optional_child_in_a_dynamic_fork_does_not_fail_its_join(seed: int) -> None:
    tasks = [
        {
            "name": ref,
            "taskReferenceName": ref,
            "type": "SUB_WORKFLOW",
            "optional": True,
            "subWorkflowParam": {"name": "kid"},
        }
        for ref in ("r1", "r2")
    ]
    bench = a_bench(a_definition(*a_dynamic_fork("d", join="j"), a_task("end")), kid())
    w = bench.start(input={"tasks": tasks, "inputs": {}})
    outcomes = [("r1", TaskStatus.FAILED), ("r2", DONE)]
    random.Random(seed).shuffle(outcomes)
    for ref, status in outcomes:
        bench.answer(bench.run(w, ref).child_id or "", "k", status)
    bench.expect(
        w, RUNNING, r1=TaskStatus.COMPLETED_WITH_ERRORS, r2=DONE, j=TaskStatus.COMPLETED_WITH_ERRORS
    )
    bench.complete("end")
    bench.expect(w, COMPLETED)


def test_fr_010_a_join_that_names_nobody_waits_for_nobody() -> None:
    fork, join = a_fork("f", [a_task("w", "WAIT")])
    bench = a_bench(a_definition(fork, join.but(join_on=()), a_task("after")))
    w = bench.start()
    bench.expect(w, RUNNING, join=DONE, after=READY)


def simple(ref: str) -> dict[str, Json]:
    return {"name": "x", "taskReferenceName": ref, "type": "SIMPLE"}


def test_fr_011_the_join_of_a_wide_dynamic_fork_ends_with_its_last_branch() -> None:
    width = 300
    bench = a_bench(a_definition(*a_dynamic_fork("d", join="j"), a_task("end")))
    tasks = [simple(f"x{number}") for number in range(width)]
    w = bench.start(input={"tasks": tasks, "inputs": {}})
    assert bench.run(w, "j").input.count(b'"x') == width  # type: ignore[union-attr]
    handed = bench.poll("x", width)
    random.Random(11).shuffle(handed)
    for number, item in enumerate(handed):
        if number in (width // 3, width // 2):
            bench.wake_up()
        bench.expect(w, RUNNING, j=AT_WORK, end=None) if number % 50 == 0 else None
        bench.report(item, DONE)
    bench.expect(w, RUNNING, j=DONE, end=READY)
    assert len(bench.attempts(w, "end")) == 1


@pytest.mark.parametrize(
    ("tasks", "inputs", "named"),
    [
        (None, {}, "'tasks'"),
        ("x", {}, "'tasks'"),
        ([{"name": "only"}], {}, "taskReferenceName"),
        ([simple("a")], None, "not a map"),
        ([simple("a"), simple("a")], {}, "duplicate"),
    ],
)
def test_fr_012_a_wrong_list_of_dynamic_tasks_fails_the_workflow_with_a_reason(
    tasks: Json, inputs: Json, named: str
) -> None:
    bench = a_bench(a_definition(*a_dynamic_fork("d", join="j"), a_task("end")))
    w = bench.start(input={"tasks": tasks, "inputs": inputs})
    assert bench.status(w) is FAILED
    assert named in (bench.execution(w).reason or "")
    assert all(run.status.terminal for run in bench.execution(w).runs.values())


def test_fr_012_an_empty_list_of_dynamic_tasks_is_no_failure() -> None:
    bench = a_bench(a_definition(*a_dynamic_fork("d", join="j"), a_task("end")))
    w = bench.start(input={"tasks": [], "inputs": {}})
    bench.expect(w, RUNNING, d=DONE, j=DONE, end=READY)
    assert bench.output(w, "j") == {}


def test_fr_013_two_branches_that_fail_together_are_both_retried() -> None:
    policy = {"retry_count": 4}
    bench = a_bench(a_definition(*a_fork("f", [a_task("a")], [a_task("b")])), a=policy, b=policy)
    w = bench.start()
    for attempt in range(1, 5):
        bench.fail("a")
        bench.fail("b")
        assert {bench.run(w, "a").attempt, bench.run(w, "b").attempt} == {attempt}
    bench.fail("a")
    bench.expect(w, FAILED, a=TaskStatus.FAILED, b=TaskStatus.CANCELED)


@pytest.mark.parametrize(
    ("items", "seen"),
    [
        ([], []),
        (None, []),
        ([1], [1]),
        ([1, 2, 3], [1, 2, 3]),
        ({"k": 1}, [{"k": 1}]),
        ("str", ["str"]),
    ],
)
@pytest.mark.parametrize("form", ["items", "_items"])
def test_fr_014_a_loop_goes_over_its_list_and_not_once_more(
    items: Json, seen: list[Json], form: str
) -> None:
    body = a_task("a", input_parameters={"in": "${l.output.loopItem}"})
    fields: dict[str, Json] = {"items": "${workflow.input.xs}"}
    if form == "_items":
        fields = {"input_parameters": {"_items": "${workflow.input.xs}"}, "loop_condition": None}
    end = a_task("end", input_parameters={"in": "${l.output.iteration}"})
    bench = a_bench(a_definition(a_loop("l", body, **fields), end))
    bench.start(input={"xs": items})
    found = []
    while got := bench.poll("a"):
        found.append(bench.output(got[0].execution.id) or got[0].input)
        bench.report(got[0], DONE)
    assert len(found) == len(seen)
    (handed,) = bench.poll("end")
    assert handed.input == b'{"in":%d}' % len(seen)


@pytest.mark.parametrize("keep", [3, "3", 3.0, "${workflow.input.k}"])
def test_fr_015_a_long_loop_keeps_its_last_rounds(keep: Json) -> None:
    loop = a_loop(
        "l", a_task("a", "NOOP"), items=list(range(50)), input_parameters={"keepLastN": keep}
    )
    bench = a_bench(a_definition(loop, a_task("end")))
    w = bench.start(input={"k": 3})
    output = bench.output(w, "l")
    assert {key for key in output if key.isdigit()} == {"48", "49", "50"}
    assert output["iteration"] == 50
    assert len(bench.execution(w).runs) == 5


@pytest.mark.parametrize("keep", [0, -1, "x", 1.5, True])
def test_fr_015_a_senseless_number_of_rounds_fails_the_loop_with_a_reason(keep: Json) -> None:
    loop = a_loop("l", a_task("a"), items=[1], input_parameters={"keepLastN": keep})
    bench = a_bench(a_definition(loop))
    w = bench.start()
    bench.expect(w, FAILED, l=TaskStatus.FAILED_WITH_TERMINAL_ERROR)
    assert "keepLastN" in (bench.run(w, "l").reason or "")


def test_fr_016_and_028_looking_again_all_the_time_doubles_nothing() -> None:
    bench = a_bench(a_definition(a_loop("l", a_task("a", "NOOP"), a_task("c"))))
    bench.conditions = lambda question: question.asked < 20
    w = bench.start()
    for _ in range(20):
        bench.ask(w, Decide())
        bench.complete("c")
        bench.ask(w, Decide())
    bench.expect(w, COMPLETED)
    runs = bench.execution(w).runs.values()
    pairs = [(run.reference, run.attempt) for run in runs]
    assert len(pairs) == len(set(pairs)) == 41
    assert [run.reference for run in runs if run.ref == "c"] == [f"c__{n}" for n in range(1, 21)]


def test_fr_017_a_paused_workflow_is_not_timed_out_and_its_clock_begins_anew() -> None:
    limit = {"timeout_seconds": 100, "timeout_policy": "TIME_OUT_WF"}
    bench = a_bench(a_definition(a_task("a"), a_task("b"), **limit))
    w = bench.start()
    bench.ask(w, Pause())
    bench.advance(3600)
    bench.expect(w, ExecutionStatus.PAUSED)
    bench.ask(w, Resume())
    bench.advance(50)
    bench.complete("a")
    bench.advance(51)
    bench.expect(w, TIMED_OUT)


def test_fr_017_work_in_hand_when_a_pause_began_is_timed_out_after_it() -> None:
    policy = {"timeout_seconds": 30, "response_timeout_seconds": 30}
    bench = a_bench(a_definition(a_task("a")), a=policy)
    w = bench.start()
    bench.poll("a")
    bench.ask(w, Pause())
    bench.advance(3600)
    bench.expect(w, ExecutionStatus.PAUSED, a=AT_WORK)
    bench.ask(w, Resume())
    bench.expect(w, TIMED_OUT, a=TaskStatus.TIMED_OUT)


def test_fr_017_a_report_during_a_pause_is_kept_and_followed_after_it() -> None:
    bench = a_bench(a_definition(a_task("a"), a_task("b")))
    w = bench.start()
    bench.ask(w, Pause())
    bench.complete("a", {"v": 1})
    bench.expect(w, ExecutionStatus.PAUSED, a=DONE, b=None)
    bench.ask(w, Resume())
    bench.expect(w, RUNNING, a=DONE, b=READY)


THREE_CLOCKS = {
    "timeout_seconds": 120,
    "response_timeout_seconds": 30,
    "poll_timeout_seconds": 50,
    "timeout_policy": "RETRY",
    "retry_count": 1,
}


@pytest.mark.parametrize(("polled", "after"), [(False, 50), (True, 30)])
def test_fr_018_a_timeout_strikes_at_its_second_and_nobody_gets_the_dead_attempt(
    polled: bool, after: int
) -> None:
    bench = a_bench(a_definition(a_task("a")), a=THREE_CLOCKS)
    w = bench.start()
    first = bench.run(w, "a").task_id
    if polled:
        bench.poll("a")
    bench.advance(after - 0.001)
    assert len(bench.attempts(w, "a")) == 1
    bench.advance(0.001)
    dead, alive = bench.attempts(w, "a")
    assert dead.status is TaskStatus.TIMED_OUT and str(after) in (dead.reason or "")
    assert [item.run.task_id for item in bench.poll("a", 5)] == [alive.task_id] != [first]


def test_fr_019_every_attempt_times_out_by_its_own_clock() -> None:
    policy = {
        "timeout_seconds": 10,
        "response_timeout_seconds": 10,
        "timeout_policy": "RETRY",
        "retry_count": 2,
    }
    bench = a_bench(a_definition(a_task("a")), a=policy)
    w = bench.start()
    for _ in range(3):
        assert bench.run(w, "a").started_at == 0
        bench.poll("a")
        bench.advance(11)
    attempts = bench.attempts(w, "a")
    assert [run.status for run in attempts] == [TaskStatus.TIMED_OUT] * 3
    assert [run.retried_task_id for run in attempts[1:]] == [run.task_id for run in attempts[:-1]]
    bench.expect(w, TIMED_OUT)


def test_fr_019_a_total_budget_ends_the_task_although_retries_are_left() -> None:
    policy = {
        "total_timeout_seconds": 25,
        "timeout_seconds": 10,
        "response_timeout_seconds": 10,
        "timeout_policy": "RETRY",
        "retry_count": 9,
    }
    bench = a_bench(a_definition(a_task("a")), a=policy)
    w = bench.start()
    for seconds in (10, 10, 5):
        bench.expect(w, RUNNING)
        bench.poll("a")
        bench.advance(seconds)
    bench.expect(w, TIMED_OUT)


def test_fr_023_a_lease_is_extended_without_giving_the_task_back() -> None:
    bench = a_bench(a_definition(a_task("a")), a={"response_timeout_seconds": 30})
    w = bench.start()
    (handed,) = bench.poll("a")
    for _ in range(15):
        bench.advance(20)
        bench.extend(handed)
        assert bench.poll("a") == []
    assert (bench.run(w, "a").status, bench.run(w, "a").poll_count) == (AT_WORK, 1)


def test_fr_025_the_end_of_a_workflow_ends_everything_below_it() -> None:
    child = a_definition(a_task("k1"), a_child("k2", "grandkid"), name="kid")
    branches = [a_child("a", "kid")], [a_child("b", "kid")], [a_task("c")]
    bench = a_bench(a_definition(*a_fork("f", *branches)), child, kid("g", name="grandkid"))
    w = bench.start()
    bench.complete("k1")
    bench.fail("c", "enough")
    bench.expect(w, FAILED)
    found = bench.executions()
    assert all(item.status.terminal for item in found)
    assert all(run.status.terminal for item in found for run in item.runs.values())
    reasons = [item.reason or "" for item in found if item.parent_id]
    assert len(reasons) == 3 and all("Parent workflow has been" in reason for reason in reasons)
    assert [bench.poll(name) for name in ("k1", "g", "c")] == [[], [], []]


def test_fr_026_a_late_report_changes_nothing_and_leaves_a_line_in_the_log() -> None:
    policy = {"timeout_seconds": 10, "response_timeout_seconds": 10}
    bench = a_bench(a_definition(a_task("pay")), pay=policy)
    w = bench.start()
    (handed,) = bench.poll("pay")
    bench.advance(11)
    bench.report(handed, DONE, {"tx": "t1"}, worker="w7")
    bench.expect(w, TIMED_OUT, pay=TaskStatus.TIMED_OUT)
    assert bench.output(w, "pay") == {}
    task_id, line, _ = bench.store.logs[-1]
    assert task_id == handed.run.task_id and "COMPLETED from w7" in line


def test_fr_027_an_end_that_overtakes_the_claim_is_never_taken_back() -> None:
    bench = a_bench(a_definition(a_task("a"), a_task("b")))
    w = bench.start()
    bench.answer(w, "a", DONE)
    assert bench.poll("a") == []
    bench.expect(w, RUNNING, a=DONE, b=READY)
    assert len(bench.attempts(w, "b")) == 1


def test_fr_029_an_attempt_at_a_sub_workflow_has_exactly_one_child() -> None:
    tasks = [
        {
            "name": f"s{n}",
            "taskReferenceName": f"s{n}",
            "type": "SUB_WORKFLOW",
            "subWorkflowParam": {"name": "kid"},
        }
        for n in range(50)
    ]
    bench = a_bench(a_definition(*a_dynamic_fork("d")), kid())
    w = bench.start(input={"tasks": tasks, "inputs": {}})
    for _ in range(3):
        bench.wake_up()
        bench.ask(w, Decide())
    assert len(bench.store.numbers()) == 51


def undone(*tasks: WorkflowTask, **fields: Json) -> Bench:
    bench = a_bench(
        a_definition(*tasks, failure_workflow="undo", **fields),
        a_definition(a_task("u"), name="undo", failure_workflow="undo"),
    )
    bench.start()
    return bench


def failure_workflows(bench: Bench) -> list[str]:
    return [item.id for item in bench.executions() if item.definition.name == "undo"]


def a_terminate(status: str) -> WorkflowTask:
    given = {"terminationStatus": status, "terminationReason": "r", "workflowOutput": {"o": 1}}
    return a_task("t", "TERMINATE", input_parameters=given)


def test_fr_042_a_failure_workflow_starts_once_however_the_workflow_failed() -> None:
    by_task = undone(a_task("a"))
    by_task.fail("a")
    by_terminate = undone(a_terminate("FAILED"))
    by_time = undone(a_task("a"), timeout_seconds=5, timeout_policy="TIME_OUT_WF")
    by_time.advance(6)
    for bench in (by_task, by_terminate, by_time):
        (started,) = failure_workflows(bench)
        assert bench.output("order-1")["conductor.failure_workflow"] == started


@pytest.mark.parametrize("wanted", [False, True])
def test_fr_042_a_person_who_terminates_decides_whether_to_compensate(wanted: bool) -> None:
    bench = undone(a_task("a"))
    bench.ask("order-1", Terminate(reason="stop", trigger_failure_workflow=wanted))
    assert len(failure_workflows(bench)) == wanted


def test_fr_042_a_failure_workflow_that_fails_is_not_followed_by_another() -> None:
    bench = undone(a_task("a"))
    bench.fail("a")
    bench.fail("u")
    (only,) = failure_workflows(bench)
    assert "not followed by another" in bench.output(only)["conductor.failure_workflow"]


def test_fr_042_a_missing_failure_workflow_is_named_in_the_output() -> None:
    bench = a_bench(a_definition(a_task("a"), failure_workflow="nobody"))
    w = bench.start()
    bench.fail("a")
    assert "nobody" in bench.output(w)["conductor.failure_workflow"]


@pytest.mark.parametrize("status", ["COMPLETED", "FAILED", "TERMINATED"])
def test_fr_043_a_terminate_task_inside_a_loop_ends_everything_with_its_status(status: str) -> None:
    stop = a_switch("s", {"stop": [a_terminate(status)]}, input_parameters={"case": "stop"})
    bench = a_bench(a_definition(a_loop("l", a_task("h"), stop), a_task("end")))
    w = bench.start()
    bench.complete("h")
    bench.expect(w, ExecutionStatus(status), l=TaskStatus.CANCELED, t=None, end=None)
    assert bench.execution(w).reason == "r"
    assert bench.output(w)["o"] == 1


@pytest.mark.parametrize("status", ["terminated", "", None, "${workflow.input.x}"])
def test_fr_043_an_unknown_termination_status_fails_the_task(status: str) -> None:
    bench = a_bench(a_definition(a_terminate(status)))
    w = bench.start()
    bench.expect(w, FAILED, t=TaskStatus.FAILED)
    assert "given termination status is not valid" in (bench.run(w, "t").reason or "")


@pytest.mark.parametrize(
    ("status", "task"),
    [
        ("COMPLETED", TaskStatus.COMPLETED),
        ("FAILED", TaskStatus.FAILED),
        ("TERMINATED", TaskStatus.CANCELED),
    ],
)
def test_fr_043_a_terminate_task_in_a_child_ends_the_child_and_the_parent_follows(
    status: str, task: TaskStatus
) -> None:
    bench = a_bench(
        a_definition(a_child("s", "kid"), a_task("b")),
        a_definition(a_terminate(status), name="kid"),
    )
    w = bench.start()
    assert bench.run(w, "s").status is task
    wanted = RUNNING if status == "COMPLETED" else ExecutionStatus(status)
    assert bench.status(w) is wanted


def test_a_skipped_task_is_passed_over_and_its_output_is_read() -> None:
    use = a_task("c", input_parameters={"in": "${b.output.v}"})
    bench = a_bench(a_definition(a_task("a"), a_task("b"), use))
    w = bench.start()
    bench.ask(w, Skip(ref="b", output={"v": 3}))
    bench.complete("a")
    (handed,) = bench.poll("c")
    assert handed.input == b'{"in":3}'
