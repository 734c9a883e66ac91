"""The samples hang together: names, references, mocks, workers and figures fit one another."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jq
import pytest
import quickjs

from sample_workflows.catalogue import HOME, Document, Play, Sample, sample, samples
from sample_workflows.failures import GivenUp, fail_first_calls
from sample_workflows.workers import WORKERS

PLACEHOLDER = re.compile(r"\$\{([A-Za-z_]\w*)[^{}]*\}")
NEEDS_A_PERSON = {"HUMAN"}
NEEDS_A_MOCK = {"SIMPLE", "DYNAMIC", "HUMAN", "WAIT"}

each_sample = pytest.mark.parametrize("one", samples(), ids=lambda one: one.name)


def tasks_of(tasks: list[Document]) -> Iterator[Document]:
    """Every task of a list, with those inside its branches, cases and loops."""
    for task in tasks:
        yield task
        nested = [*task.get("forkTasks", []), *task.get("decisionCases", {}).values()]
        nested += [task.get("defaultCase", []), task.get("loopOver", [])]
        for inner in nested:
            yield from tasks_of(inner)


def refs_of(definition: Document) -> list[str]:
    return [task["taskReferenceName"] for task in tasks_of(definition["tasks"])]


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def definition_named(name: str) -> Document:
    return next(d for one in samples() for d in one.definitions if d["name"] == name)


def is_ref_of(definition: Document, ref: str) -> bool:
    """True for a task of the definition, for one pass of it in a loop, and for a forked child."""
    forked = {
        task["inputParameters"]["forkTaskName"]
        for task in tasks_of(definition["tasks"])
        if task["type"] == "FORK_JOIN_DYNAMIC"
    }
    child = re.fullmatch(r"_(\w+)_\d+", ref)
    if child:
        return child[1] in forked
    return ref.split("__")[0] in refs_of(definition)


def failed_call(name: str, task_input: Document) -> Exception:
    with pytest.raises(Exception) as caught:
        WORKERS[name](task_input)
    return caught.value


# ---- the catalogue


def test_samples_come_in_the_order_in_which_they_are_best_met():
    orders = [one.order for one in samples()]
    assert orders == list(range(1, len(orders) + 1)) and len(orders) >= 9
    assert samples()[0].name == "hello_reprise"


def test_every_folder_of_definitions_is_in_the_catalogue():
    folders = {path.parent.name for path in HOME.glob("*/*.json")}
    assert folders == {one.name for one in samples()}


def test_every_file_of_a_sample_is_named_by_it():
    for one in samples():
        files = {path.stem for path in (HOME / one.name).glob("*.json")}
        spoken_for = {"sample"} | {d["name"] for d in one.definitions}
        assert files - {"task_defs"} == spoken_for, one.name
        assert ("task_defs" in files) == bool(one.task_defs), one.name


def test_every_sample_folder_is_a_package_so_that_it_is_shipped():
    assert [one.name for one in samples() if not (HOME / one.name / "__init__.py").exists()] == []


def test_a_sample_is_found_by_its_name():
    assert sample("order_saga").title == "Order with a way back"


def test_an_unknown_name_is_refused_with_the_names_that_exist():
    with pytest.raises(KeyError, match=r"no sample named 'nope'.*hello_reprise"):
        sample("nope")


def test_no_two_samples_use_one_name_for_two_things():
    definitions = Counter(d["name"] for one in samples() for d in one.definitions)
    task_defs = Counter(t["name"] for one in samples() for t in one.task_defs)
    assert [name for name, times in (definitions + task_defs).items() if times > 1] == []


def test_the_samples_teach_the_task_types_that_people_use_most():
    taught = {
        task["type"] for one in samples() for d in one.definitions for task in tasks_of(d["tasks"])
    }
    assert taught >= {
        *("SIMPLE", "SWITCH", "FORK_JOIN", "JOIN", "FORK_JOIN_DYNAMIC", "DO_WHILE", "DYNAMIC"),
        *("HUMAN", "WAIT", "SUB_WORKFLOW", "SET_VARIABLE", "TERMINATE", "INLINE"),
        "JSON_JQ_TRANSFORM",
    }


# ---- definitions


@each_sample
def test_a_definition_says_who_owns_it_what_it_does_and_when_it_times_out(one: Sample):
    for definition in one.definitions:
        assert definition["schemaVersion"] == 2 and definition["version"] == 1
        assert definition["description"] and definition["ownerEmail"]
        assert definition["timeoutSeconds"] > 0 and definition["timeoutPolicy"] == "TIME_OUT_WF"
        assert definition["outputParameters"]
        assert all(task.get("description") for task in tasks_of(definition["tasks"]))


@each_sample
def test_references_are_unique_within_a_definition(one: Sample):
    for definition in one.definitions:
        doubled = [ref for ref, times in Counter(refs_of(definition)).items() if times > 1]
        assert doubled == []


@each_sample
def test_every_placeholder_names_a_task_or_the_workflow(one: Sample):
    for definition in one.definitions:
        roots = {root for text in texts_in(definition) for root in PLACEHOLDER.findall(text)}
        assert roots - {"workflow", *refs_of(definition)} == set()


@each_sample
def test_every_input_that_is_read_is_declared(one: Sample):
    reading = re.compile(r"\$\{workflow\.input\.(\w+)")
    for definition in one.definitions:
        read = {key for text in texts_in(definition) for key in reading.findall(text)}
        assert read <= set(definition["inputParameters"])


@each_sample
def test_a_join_waits_for_tasks_that_exist_and_follows_its_fork(one: Sample):
    for definition in one.definitions:
        tasks = definition["tasks"]
        for fork, after in zip(tasks, [*tasks[1:], None], strict=True):
            if fork["type"] in {"FORK_JOIN", "FORK_JOIN_DYNAMIC"}:
                assert after is not None and after["type"] == "JOIN"
                assert set(after["joinOn"]) <= set(refs_of(definition))
                assert bool(after["joinOn"]) == (fork["type"] == "FORK_JOIN")


@each_sample
def test_every_worker_task_has_a_worker_and_a_task_definition(one: Sample):
    defined = {task_def["name"] for task_def in one.task_defs}
    for definition in one.definitions:
        for task in tasks_of(definition["tasks"]):
            name = task["name"] if task["type"] == "SIMPLE" else None
            if task["type"] == "FORK_JOIN_DYNAMIC":
                name = task["inputParameters"]["forkTaskName"]
            assert name is None or (name in WORKERS and name in defined)


def test_every_worker_is_used_by_a_sample():
    assert {t["name"] for one in samples() for t in one.task_defs} >= set(WORKERS)


@each_sample
def test_a_child_or_failure_workflow_comes_with_its_parent(one: Sample):
    at_hand = {definition["name"] for definition in one.definitions}
    for definition in one.definitions:
        assert definition.get("failureWorkflow", definition["name"]) in at_hand
        for task in tasks_of(definition["tasks"]):
            if task["type"] == "SUB_WORKFLOW":
                assert task["subWorkflowParam"]["name"] in at_hand


@each_sample
def test_retries_come_soon_and_time_limits_fit_each_other(one: Sample):
    for task_def in one.task_defs:
        assert task_def["retryDelaySeconds"] <= 1
        assert 0 < task_def["responseTimeoutSeconds"] <= task_def["timeoutSeconds"]
        assert task_def["description"] and task_def["ownerEmail"]


def test_nobody_waits_for_a_timer_longer_than_two_seconds():
    waits = [
        task["inputParameters"]["duration"]
        for one in samples()
        for definition in one.definitions
        for task in tasks_of(definition["tasks"])
        if task["type"] == "WAIT"
    ]
    assert set(waits) == {"1 second", "2 seconds"}


def test_no_sample_leaves_the_machine():
    types = {
        task["type"] for one in samples() for d in one.definitions for task in tasks_of(d["tasks"])
    }
    assert types & {"HTTP", "EVENT", "KAFKA_PUBLISH", "JDBC"} == set()


@each_sample
def test_jq_programs_compile(one: Sample):
    for definition in one.definitions:
        for task in tasks_of(definition["tasks"]):
            if task["type"] == "JSON_JQ_TRANSFORM":
                jq.compile(task["inputParameters"]["queryExpression"])


@each_sample
def test_scripts_are_well_formed(one: Sample):
    for definition in one.definitions:
        for task in tasks_of(definition["tasks"]):
            script = task.get("loopCondition") or task.get("inputParameters", {}).get("expression")
            if task.get("evaluatorType") == "javascript":
                script = task["expression"]
            if script:
                quickjs.Context().eval(f"(function () {{ {script} }})")


# ---- the ways to play


@each_sample
def test_the_start_form_is_filled_with_the_input_of_the_sample(one: Sample):
    assert one.definition["inputTemplate"] == one.happy.input
    assert one.definition["inputParameters"] == list(one.happy.input)


@each_sample
def test_every_play_gives_the_whole_input(one: Sample):
    assert all(play.input.keys() == one.happy.input.keys() for play in one.plays())


@each_sample
def test_every_person_who_is_asked_also_answers(one: Sample):
    asked = {
        task["taskReferenceName"]
        for task in tasks_of(one.definition["tasks"])
        if task["type"] in NEEDS_A_PERSON
    }
    assert all({step["complete"] for step in play.steps} == asked for play in one.plays())


@each_sample
def test_mocks_name_existing_tasks_and_have_an_output(one: Sample):
    for play in one.plays():
        for ref, mocks in play.mocks.items():
            assert is_ref_of(one.definition, ref), ref
            assert mocks and all(mock["output"] is not None for mock in mocks)


@each_sample
def test_requests_for_children_name_a_child_and_its_tasks(one: Sample):
    children = {
        task["taskReferenceName"]: task["subWorkflowParam"]["name"]
        for task in tasks_of(one.definition["tasks"])
        if task["type"] == "SUB_WORKFLOW"
    }
    for play in one.plays():
        requests = play.sub_workflow_requests
        assert {ref: request["name"] for ref, request in requests.items()} == children
        for request in requests.values():
            child = definition_named(request["name"])
            assert all(is_ref_of(child, ref) for ref in request["taskRefToMockOutput"])


@each_sample
def test_tasks_on_the_main_road_are_mocked_when_they_need_it(one: Sample):
    mocked = {ref.split("__")[0] for ref in one.happy.mocks}
    for task in one.definition["tasks"]:
        assert task["type"] not in NEEDS_A_MOCK or task["taskReferenceName"] in mocked


@each_sample
def test_the_happy_play_completes_and_the_failing_one_fails_at_a_known_task(one: Sample):
    assert one.happy.expect["status"] == "COMPLETED"
    assert one.failing.expect["status"] == "FAILED"
    assert is_ref_of(one.definition, one.failing.expect["failedRef"])
    assert one.failing.expect["reason_has"]


@each_sample
def test_expected_outputs_are_outputs_of_the_definition(one: Sample):
    plays: list[Play] = [*one.plays()]
    expected = [play.expect for play in plays] + [play.fix.expect for play in plays if play.fix]
    for expect in expected:
        assert set(expect.get("output_has", {})) <= set(one.definition["outputParameters"])
        undo = expect.get("failureWorkflow")
        if undo:
            outputs = definition_named(undo["name"])["outputParameters"]
            assert set(undo["output_has"]) <= set(outputs)


@each_sample
def test_every_failure_can_be_fixed_by_an_operator(one: Sample):
    fix = one.failing.fix
    assert fix is not None and fix.explain.endswith(".")
    assert fix.expect["status"] == "COMPLETED"
    if fix.action == "retry":
        assert fix.workflow_input is None and fix.from_ref is None
    else:
        assert fix.action == "rerun" and fix.workflow_input is not None
        assert fix.workflow_input.keys() == one.happy.input.keys()
        assert (fix.from_ref is None) == (fix.task_input is None)
        assert fix.from_ref is None or fix.from_ref in refs_of(one.definition)


@each_sample
def test_a_rerun_task_gets_every_input_that_it_had(one: Sample):
    fix = one.failing.fix
    if fix and fix.from_ref and fix.task_input:
        by_ref = {task["taskReferenceName"]: task for task in tasks_of(one.definition["tasks"])}
        assert fix.task_input.keys() == by_ref[fix.from_ref]["inputParameters"].keys()


# ---- workers


@each_sample
def test_mocks_have_the_outputs_that_the_workers_declare(one: Sample):
    outputs = {task_def["name"]: set(task_def["outputKeys"]) for task_def in one.task_defs}
    for task in tasks_of(one.definition["tasks"]):
        if task["type"] != "SIMPLE":
            continue
        for play in one.plays():
            for ref, mocks in play.mocks.items():
                if ref.split("__")[0] == task["taskReferenceName"]:
                    assert all(set(mock["output"]) <= outputs[task["name"]] for mock in mocks)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hello_reprise", "nobody to greet"),
        ("trip_quote", "No hotel in Lisbon has 7 stars"),
        ("order_saga", "No carrier delivers to AQ"),
        ("purchase_approval", "no account with Nordik Desks"),
    ],
)
def test_a_worker_gives_up_on_input_that_can_never_succeed(name: str, reason: str):
    failing = sample(name).failing
    definition = sample(name).definition
    task = next(
        task
        for task in tasks_of(definition["tasks"])
        if task["taskReferenceName"] == failing.expect["failedRef"]
    )
    task_input = {key: failing.input.get(key) for key in task["inputParameters"]}
    error = failed_call(task["name"], task_input)
    assert isinstance(error, GivenUp) and error.terminal
    assert reason in str(error) and failing.expect["reason_has"] in str(error)


def test_a_passing_outage_fails_the_first_calls_of_its_key_only():
    for _ in range(2):
        with pytest.raises(ConnectionError, match="no answer"):
            fail_first_calls("outage", 2, "no answer")
    fail_first_calls("outage", 2, "no answer")
    with pytest.raises(ConnectionError):
        fail_first_calls("another outage", 2, "no answer")


def test_an_outage_may_be_tried_again():
    photo = {"photo": "a.jpg", "width": 80, "unreadableOnce": "a.jpg", "runId": "run-1"}
    assert not hasattr(failed_call("resize_photo", photo), "terminal")
    assert WORKERS["resize_photo"](photo) == {"file": "a-80.jpg", "kilobytes": 11}


def test_a_photo_of_another_run_has_its_own_outage():
    photo = {"photo": "b.jpg", "width": 80, "unreadableOnce": "b.jpg", "runId": "run-2"}
    failed_call("resize_photo", photo)
    assert failed_call("resize_photo", photo | {"runId": "run-3"})


def test_the_local_model_takes_the_same_path_for_the_same_question():
    question = {"question": "Can I return order A-1042?", "transcript": []}
    assert WORKERS["ask_local_model"](question) == WORKERS["ask_local_model"](question)
    assert WORKERS["ask_local_model"](question)["tool"] == "look_up_order"


def test_the_local_model_answers_with_what_the_tools_said():
    order = {"tool": "look_up_order", "result": {"item": "milk jug", "news": "is on its way"}}
    said = WORKERS["ask_local_model"]({"question": "Where is A-1077?", "transcript": [order]})
    assert said["next"] == "answer" and said["result"] == "Your milk jug is on its way."
    assert said["tokenUsed"] == said["promptTokens"] + said["completionTokens"]


def test_only_finished_steps_are_announced_as_undone():
    undo = {"orderId": "A-1", "undone": [None, "payment p refunded", None]}
    assert WORKERS["announce_cancellation"](undo)["steps"] == ["payment p refunded"]


def test_a_report_tells_a_rollback_from_a_repair():
    facts = {"service": "s", "alert": "a", "cause": "c", "approver": "I", "decision": "approve"}
    repaired = WORKERS["write_report"](facts | {"p95Ms": 240, "restored": None})
    rolled_back = WORKERS["write_report"](facts | {"p95Ms": 2290, "restored": "pool_size = 10"})
    assert repaired["outcome"] == "repaired, p95 is 240 ms"
    assert rolled_back["outcome"] == "rolled back, pool_size = 10"
