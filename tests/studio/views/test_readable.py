"""What a task can read: what ran before it, the input, with samples of a run that is known."""

from studio.graph import layout
from studio.views.readable import Value, values_for
from tests.studio.editor.definitions import a_definition, a_switch, a_task


def values(definition: dict, ref: str, **known: object) -> dict[str, Value]:
    found = values_for(definition, ref, layout.place(definition), **known)  # type: ignore[arg-type]
    return {value.expression: value for value in found}


PAY = a_task("pay", inputParameters={"id": "${find.output.id}"})


def test_a_task_reads_those_before_it_and_not_those_behind() -> None:
    definition = a_definition(a_task("find"), PAY, a_task("send", "INLINE"))
    found = values(definition, "pay")
    assert "${find.output.id}" in found and "${send.output.result}" not in found


def test_the_nearest_task_comes_first() -> None:
    definition = a_definition(a_task("a", "INLINE"), a_task("b", "INLINE"), a_task("c"))
    assert list(values(definition, "c"))[:2] == ["${b.output.result}", "${a.output.result}"]


def test_a_task_of_a_branch_may_not_have_run() -> None:
    definition = a_definition(a_switch("route", yes=[a_task("x", "INLINE")]), a_task("end"))
    found = values(definition, "end")
    assert not found["${x.output.result}"].sure
    assert found["${route.output.evaluationResult}"].sure


def test_samples_are_those_of_the_run_that_is_known() -> None:
    definition = a_definition(a_task("find"), PAY)
    found = values(definition, "pay", outputs={"find": {"id": 7}}, inputs={"who": "Ada"})
    assert found["${find.output.id}"].sample == 7
    assert found["${workflow.input.who}"].sample == "Ada"


def test_declared_outputs_of_a_worker_can_be_read() -> None:
    definition = a_definition(a_task("find"), a_task("pay"))
    found = values(definition, "pay", task_defs=[{"name": "find", "outputKeys": ["id"]}])
    assert "${find.output.id}" in found


def test_variables_that_are_set_can_be_read() -> None:
    setter = a_task("keep", "SET_VARIABLE", inputParameters={"round": 1})
    assert "${workflow.variables.round}" in values(a_definition(setter, a_task("pay")), "pay")


def test_a_task_that_is_not_there_reads_nothing_of_others() -> None:
    assert "${find.output.id}" not in values(a_definition(a_task("find"), PAY), "gone")
