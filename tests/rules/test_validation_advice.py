"""Advice on definitions: each finding where it belongs, and none where all is well."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.expressions.scripts import Language, ScriptAnswer, ScriptJob
from engine.model.definitions import TaskDef
from engine.rules.validation_advice import findings
from engine.rules.validation_findings import Finding, Severity
from engine.rules.validation_settings import policy_findings
from sample_workflows.catalogue import samples


def a_task(ref: str, type_: str = "SIMPLE", **fields: Any) -> dict[str, Any]:
    return {"name": ref, "taskReferenceName": ref, "type": type_, **fields}


def reading(ref: str, text: Any) -> dict[str, Any]:
    return a_task(ref, inputParameters={"value": text})


def a_loop(ref: str, *body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    condition = f"$.{ref}['iteration'] < 3"
    return a_task(ref, "DO_WHILE", **{"loopCondition": condition, "loopOver": body, **fields})


def a_switch(ref: str, default: Any = None, **cases: Any) -> dict[str, Any]:
    return a_task(
        ref,
        "SWITCH",
        evaluatorType="value-param",
        expression="key",
        inputParameters={"key": "${workflow.input.key}"},
        decisionCases=cases,
        defaultCase=[a_task(f"{ref}_else")] if default is None else default,
    )


def a_fork(ref: str, *branches: list[dict[str, Any]]) -> dict[str, Any]:
    return a_task(ref, "FORK_JOIN", forkTasks=list(branches))


def a_join(ref: str, *awaited: str) -> dict[str, Any]:
    return a_task(ref, "JOIN", joinOn=list(awaited))


def the_end(ref: str = "stop") -> dict[str, Any]:
    return a_task(ref, "TERMINATE", inputParameters={"terminationStatus": "FAILED"})


def a_definition(*tasks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    outputs = {"outputParameters": {"done": True}}
    return {"name": "order", "tasks": list(tasks), **outputs, **fields}


def advice(*tasks: dict[str, Any], **fields: Any) -> list[Finding]:
    return list(findings(a_definition(*tasks, **fields)))


def told(found: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.code, finding.place) for finding in found]


SOUND: dict[str, list[dict[str, Any]]] = {
    "a plain sequence": [a_task("a"), reading("b", "${a.output.x} ${workflow.input.y}")],
    "a fork with its join": [
        a_fork("f", [a_task("a")], [a_task("b1"), reading("b2", "${b1.output.x}")]),
        a_join("j", "a", "b2"),
        reading("after", "${a.output.x} ${b1.output.x} ${j.output.b2}"),
    ],
    "a value that every case has": [
        a_task("a"),
        a_switch("s", default=[reading("d", "${a.output}")], gold=[reading("g", "${a.output}")]),
        reading("after", "${s.output.selectedCase}"),
    ],
    "behind a case that ends the workflow": [
        a_switch("s", default=[a_task("d")], bad=[the_end()]),
        reading("after", "${d.output.x}"),
    ],
    "a loop that counts itself": [
        a_loop("l", reading("a", "${l.output.iteration}"), reading("b", "${a.output.x}")),
        reading("after", "${l.output.1.a.x}"),
    ],
    "a loop over items": [
        a_task("l", "DO_WHILE", items="${workflow.input.list}", loopOver=[a_task("a")])
    ],
    "a dynamic fork": [
        a_task("f", "FORK_JOIN_DYNAMIC", inputParameters={"forkTaskInputs": []}),
        a_join("j"),
    ],
    "an escaped expression in a script": [
        a_task("i", "INLINE", inputParameters={"expression": "`$${x}`", "x": 1})
    ],
    "a secret handed to a worker": [reading("a", "${workflow.secrets.KEY}")],
    "a system variable": [reading("a", "${CPEWF_TASK_ID} ${workflow.env.REGION}")],
}


@pytest.mark.parametrize("tasks", SOUND.values(), ids=SOUND)
def test_nothing_is_said_of_what_is_sound(tasks: list[dict[str, Any]]):
    assert advice(*tasks) == []


FOUND: dict[tuple[str, str], list[dict[str, Any]]] = {
    # references
    ("unknown_ref", "tasks[1].inputParameters.value.deep[0]"): [
        a_task("a"),
        reading("b", {"deep": ["${nope.output.x}"]}),
    ],
    ("later_ref", "tasks[0].inputParameters.value"): [reading("a", "${b.output.x}"), a_task("b")],
    ("reads_itself", "tasks[0].inputParameters.value"): [reading("a", "${a.output.x}")],
    ("maybe_ref", "tasks[1].inputParameters.value"): [
        a_switch("s", gold=[a_task("g")]),
        reading("after", "${g.output.x}"),
    ],
    ("later_ref", "tasks[0].decisionCases.gold[0].inputParameters.value"): [
        a_switch("s", gold=[reading("g", "${s_else.output.x}")]),
    ],
    ("parallel_ref", "tasks[0].forkTasks[1][0].inputParameters.value"): [
        a_fork("f", [a_task("a")], [reading("b", "${a.output.x}")]),
        a_join("j", "a", "b"),
    ],
    ("earlier_round", "tasks[0].loopOver[0].inputParameters.value"): [
        a_loop("l", reading("a", "${b.output.x}"), a_task("b")),
    ],
    ("loop_reads_itself", "tasks[0].loopOver[0].inputParameters.value"): [
        a_loop("l", reading("a", "${l.output}")),
    ],
    ("bad_path", "tasks[0].loopOver[0].inputParameters.value"): [
        a_loop("l", reading("a", "${workflow.input.}")),
    ],
    ("unknown_field", "tasks[1].inputParameters.value"): [
        a_task("a"),
        reading("b", "${a.outputData.x}"),
    ],
    ("length_without_call", "tasks[0].inputParameters.value"): [
        reading("a", "${workflow.input.list.length}"),
    ],
    ("filter_then_index", "tasks[0].inputParameters.value"): [
        reading("a", "${workflow.input.list[?(@.x==1)][0]}"),
    ],
    ("not_filled", "tasks[0].loopCondition"): [
        a_loop("l", a_task("a"), loopCondition="$.l['iteration'] < ${workflow.input.n}"),
    ],
    ("secret_in_output", "tasks[0].inputParameters.value"): [
        reading("a", "${workflow.secrets.KEY}") | {"type": "SET_VARIABLE"},
    ],
    ("secret_in_script", "tasks[0].inputParameters.key"): [
        a_task(
            "a",
            "INLINE",
            inputParameters={"expression": "$.key", "key": "${workflow.secrets.KEY}"},
        ),
    ],
    # shape
    ("unreachable", "tasks[1]"): [the_end(), a_task("a"), a_task("b")],
    ("ignored_tasks", "tasks[0].loopOver"): [a_task("a", loopOver=[a_task("b")])],
    ("fork_without_join", "tasks[0]"): [a_fork("f", [a_task("a")])],
    ("branch_not_joined", "tasks[0].forkTasks[1]"): [
        a_fork("f", [a_task("a")], [a_task("b")]),
        a_join("j", "a"),
    ],
    ("join_on_nothing", "tasks[1].joinOn"): [a_task("a"), a_join("j")],
    ("join_unknown", "tasks[1].joinOn[0]"): [a_task("a"), a_join("j", "nope")],
    ("join_maybe", "tasks[1].joinOn[0]"): [a_switch("s", gold=[a_task("g")]), a_join("j", "g")],
    ("join_never", "tasks[0].joinOn[0]"): [a_join("j", "a"), a_task("a")],
    ("join_across_loop", "tasks[1].joinOn[0]"): [a_loop("l", a_task("a")), a_join("j", "a")],
    ("nested_loop", "tasks[0].loopOver[0]"): [a_loop("l", a_loop("m", a_task("a")))],
    ("double_underscore", "tasks[0].loopOver[0].taskReferenceName"): [
        a_loop("l", {**a_task("a"), "taskReferenceName": "a__b"}),
    ],
    ("loop_once", "tasks[0].loopCondition"): [a_loop("l", a_task("a"), loopCondition="")],
    ("loop_without_end", "tasks[0].loopCondition"): [
        a_loop("l", a_task("a"), loopCondition="true"),
    ],
    ("unknown_evaluator", "tasks[0].evaluatorType"): [
        {**a_switch("s", x=[a_task("b")]), "evaluatorType": "perl"},
    ],
    ("value_not_given", "tasks[0]"): [{**a_switch("s", x=[a_task("b")]), "inputParameters": {}}],
    ("no_default", "tasks[0]"): [a_switch("s", default=[], x=[a_task("b")])],
    ("empty_case", "tasks[0].decisionCases.x"): [a_switch("s", x=[])],
    ("no_sub_workflow", "tasks[0].subWorkflowParam"): [
        a_task("s", "SUB_WORKFLOW", subWorkflowParam={}),
    ],
    ("runs_itself", "tasks[0].subWorkflowParam.name"): [
        a_task("s", "SUB_WORKFLOW", subWorkflowParam={"name": "order"}),
    ],
    # settings
    ("awkward_name", "tasks[0].name"): [{**a_task("a"), "name": "pay/now"}],
    ("awkward_ref", "tasks[0].taskReferenceName"): [a_task("pay.now")],
    ("ignored_field", "tasks[0].retries"): [a_task("a", retries=3)],
    ("ignored_field", "tasks[0].subWorkflowParam.input"): [
        a_task("s", "SUB_WORKFLOW", subWorkflowParam={"name": "kid", "input": {}}),
    ],
    ("ignored_field", "tasks[0].taskDefinition.retries"): [
        a_task("a", taskDefinition={"name": "a", "retries": 1}),
    ],
    ("old_type", "tasks[0].type"): [
        a_task("a", "LAMBDA", inputParameters={"scriptExpression": "return 1"}),
    ],
    ("needs_worker", "tasks[0].type"): [a_task("a", "JDBC")],
    ("unknown_type", "tasks[0].type"): [a_task("a", "SEND_FAX")],
    ("named_like_a_type", "tasks[0].name"): [{**a_task("a"), "name": "HTTP"}],
    ("retry_without_effect", "tasks[0].retryCount"): [
        {**a_switch("s", x=[a_task("b")]), "retryCount": 2},
    ],
    ("delay_without_effect", "tasks[0].startDelay"): [a_task("a", "NOOP", startDelay=5)],
    ("async_without_effect", "tasks[0].asyncComplete"): [a_task("a", asyncComplete=True)],
    ("bad_task_definition", "tasks[0].taskDefinition"): [
        a_task("a", taskDefinition={"name": "a", "timeoutSeconds": 60}),
    ],
    ("contradicting_retry", "tasks[0].taskDefinition.retryLogic"): [
        a_task(
            "a",
            taskDefinition={
                "name": "a",
                "retryLogic": "EXPONENTIAL_BACKOFF",
                "retryDelaySeconds": 0,
            },
        ),
    ],
    ("refused_elsewhere", "tasks[0].loopOver[0]"): [a_loop("l", a_task("e", "EVENT"))],
    ("refused", "tasks[0]"): [a_task("e", "EVENT")],
}  # fmt: skip


@pytest.mark.parametrize(("expected", "tasks"), FOUND.items(), ids=lambda v: str(v)[:60])
def test_what_may_go_wrong_is_found_at_its_place(
    expected: tuple[str, str], tasks: list[dict[str, Any]]
):
    found = told(advice(*tasks))
    assert expected in found
    assert {code for code, _ in found} - {"refused"} <= {expected[0]}


@pytest.mark.parametrize(
    ("expected", "fields"),
    [
        (("awkward_name", "name"), {"name": "a?b"}),
        (("timeout_without_policy", "timeoutSeconds"), {"timeoutSeconds": 60}),
        (("policy_without_timeout", "timeoutPolicy"), {"timeoutPolicy": "TIME_OUT_WF"}),
        (("no_output_parameters", "outputParameters"), {"outputParameters": {}}),
        (("fails_into_itself", "failureWorkflow"), {"failureWorkflow": "order"}),
        (("ignored_field", "tags"), {"tags": []}),
        (
            ("secret_in_output", "outputParameters.key"),
            {"outputParameters": {"key": "${workflow.secrets.KEY}"}},
        ),
        (
            ("unknown_ref", "outputParameters.key"),
            {"outputParameters": {"key": "${nope.output.x}"}},
        ),
        (("not_filled", "variables.x"), {"variables": {"x": "${workflow.input.x}"}}),
        (("unreadable", "tasks"), {"tasks": 3}),
    ],
)
def test_the_workflows_own_fields_are_looked_at(expected: tuple[str, str], fields: dict[str, Any]):
    definition = {**a_definition(a_task("a")), **fields}
    assert told(list(findings(definition))) == [expected]


def test_an_embedded_definition_is_looked_at_by_itself():
    inner = a_definition(reading("a", "${b.output.x}"))
    task = a_task("s", "SUB_WORKFLOW", subWorkflowParam={"name": "k", "workflowDefinition": inner})
    within = "tasks[1].subWorkflowParam.workflowDefinition"
    assert told(advice(a_task("b"), task)) == [
        ("refused", within),
        ("unknown_ref", f"{within}.tasks[0].inputParameters.value"),
    ]


def test_a_near_miss_is_named():
    (found,) = advice(a_loop("l", a_task("charge"), reading("b", "${chrage.output}")))
    assert found.fix.startswith("Did you mean charge?")


def test_an_unknown_name_counts_less_where_a_dynamic_fork_makes_names():
    fork = a_task("f", "FORK_JOIN_DYNAMIC", inputParameters={"forkTaskInputs": []})
    end = a_loop("l", reading("after", "${_f_0.output.x}"))
    (found,) = advice(fork, a_join("j"), end)
    assert (found.code, found.severity) == ("unknown_ref", Severity.WARNING)


def test_scripts_are_read_where_somebody_can_read_them():
    def check(job: ScriptJob) -> ScriptAnswer:
        assert job.check_only
        return ScriptAnswer(error=f"{job.language}: no" if "(" in job.source else None)

    tasks = [
        {**a_switch("s", x=[a_task("b")]), "evaluatorType": "javascript", "expression": "("},
        a_loop("l", a_task("c"), loopCondition="$.l("),
        a_task("i", "INLINE", inputParameters={"expression": "(", "evaluatorType": "javascript"}),
        a_task("q", "JSON_JQ_TRANSFORM", inputParameters={"queryExpression": "("}),
        a_task("m", "INLINE", inputParameters={"expression": "${workflow.input.script}("}),
    ]
    found = [f for f in findings(a_definition(*tasks), check=check) if f.code == "bad_script"]
    assert [f.place for f in found] == [
        "tasks[0].expression",
        "tasks[1].loopCondition",
        "tasks[2].inputParameters.expression",
        "tasks[3].inputParameters.queryExpression",
    ]
    assert found[3].message.endswith(f"{Language.JQ}: no")


def test_errors_come_first():
    found = advice(a_task("x", "JDBC"), reading("a", "${b.output}"), a_task("b", retries=1))
    assert [f.severity for f in found] == [Severity.ERROR, Severity.WARNING, Severity.INFO]


def test_a_finding_can_be_sent():
    (found,) = advice(a_task("a", retries=3))
    assert found.json_value() == {
        "code": "ignored_field",
        "severity": "warning",
        "path": ["tasks", 0, "retries"],
        "place": "tasks[0].retries",
        "ref": "a",
        "message": "Nothing reads the field 'retries'.",
        "fix": "Check its spelling and its place, or remove it.",
    }


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"retryCount": 0, "timeoutPolicy": "RETRY", "totalTimeoutSeconds": 9}, "timeoutPolicy"),
        ({"retryDelaySeconds": -1}, "retryDelaySeconds"),
        ({"retryDelaySeconds": 0, "retryLogic": "LINEAR_BACKOFF"}, "retryLogic"),
        ({"maxRetryDelaySeconds": 30}, "maxRetryDelaySeconds"),
        ({"backoffScaleFactor": 2}, "backoffScaleFactor"),
        ({"totalTimeoutSeconds": 60}, "totalTimeoutSeconds"),
    ],
)
def test_settings_of_a_task_definition_that_contradict_each_other_are_told(
    fields: dict[str, Any], place: str
):
    policy = TaskDef.read({"name": "charge", **fields})
    assert told(list(policy_findings(policy, ()))) == [("contradicting_retry", place)]


def test_a_plain_task_definition_contradicts_nothing():
    assert list(policy_findings(TaskDef.read({"name": "charge"}), ())) == []


def test_the_samples_have_no_errors():
    for sample in samples():
        for definition in sample.definitions:
            found = [f for f in findings(definition) if f.severity is Severity.ERROR]
            assert found == [], definition["name"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("a${}.[]_w", max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "type", "taskReferenceName", "loopOver", "forkTasks", "joinOn", "x"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["name", "tasks", "outputParameters", "x"]), JSON))
def test_no_draft_is_so_broken_that_advice_fails(definition: dict[str, Any]):
    assert all(finding.message and finding.fix for finding in findings(definition))
