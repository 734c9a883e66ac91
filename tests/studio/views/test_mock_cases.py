"""Cases of mock tests: where they come from, and what is sent to play them."""

from sample_workflows.catalogue import sample
from studio.views import mock_cases
from tests.studio.editor.definitions import a_definition, a_fork, a_switch, a_task

SAGA = sample("order_saga")


def test_a_case_from_the_definition_answers_every_task_that_needs_an_answer() -> None:
    definition = a_definition(
        a_task("call", "HTTP"),
        *a_fork("split", [a_task("left")], [a_task("right", "WAIT")], join="meet"),
        a_switch("route", yes=[a_task("ask", "HUMAN")]),
        a_task("count", "INLINE"),
    )
    case = mock_cases.of_definition(definition, "all")
    assert set(case["mocks"]) == {"call", "left", "right", "ask"}


def test_it_gives_the_outputs_that_others_read() -> None:
    reader = a_task(
        "send", inputParameters={"to": "${find.output.people[0].mail}", "n": "${find.output.n}"}
    )
    case = mock_cases.of_definition(a_definition(a_task("find"), reader), "all")
    assert case["mocks"]["find"][0]["output"] == {
        "people": [{"mail": "people[0].mail of find"}],
        "n": "n of find",
    }


def test_it_gives_the_outputs_that_a_task_definition_declares() -> None:
    known = [{"name": "find", "outputKeys": ["id"]}]
    case = mock_cases.of_definition(a_definition(a_task("find")), "all", known)
    assert case["mocks"]["find"][0]["output"] == {"id": "id of find"}


def test_its_input_has_a_value_for_every_declared_name() -> None:
    definition = a_definition(inputParameters=["a", "b"], inputTemplate={"b": 2})
    assert mock_cases.input_of(definition) == {"b": 2, "a": "a of the input"}


def test_a_sub_workflow_gets_a_request_of_its_own() -> None:
    child = a_task("ship", "SUB_WORKFLOW", subWorkflowParam={"name": "shipping"})
    case = mock_cases.of_definition(a_definition(child), "all")
    assert case["children"] == {"ship": {"name": "shipping", "taskRefToMockOutput": {}}}


def test_a_sample_expects_only_what_mocks_can_show() -> None:
    play = SAGA.failing
    case = mock_cases.of_sample(play.title, play.input, play.mocks, {}, play.expect)
    assert case["expect"] == {"status": "FAILED", "failedRef": "book_shipping"}


def test_an_execution_becomes_its_attempts_in_order() -> None:
    tasks = [
        {"referenceTaskName": "pay", "taskType": "pay", "status": "FAILED", "outputData": {}},
        {
            "referenceTaskName": "pay",
            "taskType": "pay",
            "status": "COMPLETED",
            "outputData": {"ok": True},
            "startTime": 100,
            "endTime": 350,
        },
        {"referenceTaskName": "route", "taskType": "SWITCH", "status": "COMPLETED"},
    ]
    execution = {"status": "COMPLETED", "input": {"x": 1}, "output": {"y": 2}, "tasks": tasks}
    case = mock_cases.of_execution(execution, "as it was")
    assert case["mocks"] == {
        "pay": [
            {"status": "FAILED", "output": {}},
            {"status": "COMPLETED", "output": {"ok": True}, "executionTime": 250},
        ]
    }
    assert case["expect"] == {"status": "COMPLETED", "output_has": {"y": 2}}


def test_the_request_brings_the_definition_so_that_a_draft_can_be_played() -> None:
    case = mock_cases.of_definition(SAGA.definition, "all")
    request = mock_cases.request_of(case, SAGA.definition)
    assert request["workflowDef"] == SAGA.definition
    assert request["taskRefToMockOutput"] == case["mocks"]


def test_a_case_that_fails_a_task_leaves_the_first_one_alone() -> None:
    case = mock_cases.of_definition(SAGA.definition, "all")
    failing = mock_cases.failing(case, "charge_card", "no money")
    assert failing["mocks"]["charge_card"][0]["status"] == "FAILED_WITH_TERMINAL_ERROR"
    assert case["mocks"]["charge_card"][0]["status"] == "COMPLETED"


def test_what_is_no_case_on_the_desk_is_passed_over() -> None:
    document = {"cases": [{"name": "good"}, {"nameless": 1}, "text", None]}
    assert [case["name"] for case in mock_cases.kept_cases(document)] == ["good"]
    assert mock_cases.kept_cases(None) == []
