"""Random definitions: nested, small, and of every kind that decides something."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from engine.model.definitions import TaskDef, WorkflowDef, WorkflowTask
from tests.builders import (
    a_child,
    a_definition,
    a_dynamic_fork,
    a_fork,
    a_loop,
    a_switch,
    a_task,
    a_task_def,
)

Pick = Callable[[int], int]
"""A number from 0 to below its argument."""

WORKERS = ("once", "twice", "later", "timed")
"""Names of worker tasks; each has a policy of its own."""


def task_defs() -> list[TaskDef]:
    return [
        a_task_def("once"),
        a_task_def("twice", retry_count=2),
        a_task_def("later", retry_count=1, retry_delay_seconds=5),
        a_task_def("timed", retry_count=1, timeout_seconds=30, timeout_policy="RETRY",
                   response_timeout_seconds=20, poll_timeout_seconds=40),
    ]  # fmt: skip


def the_child() -> WorkflowDef:
    """What SUB_WORKFLOW tasks run."""
    tasks = (a_task("kid", name="once"), a_task("kid_too", name="twice", optional=True))
    return a_definition(*tasks, name="kid")


@st.composite
def definitions(draw: st.DrawFn) -> WorkflowDef:
    """A definition of a few tasks, nested up to three deep."""
    return random_definition(lambda below: draw(st.integers(0, below - 1)))


def random_definition(pick: Pick) -> WorkflowDef:
    """The same from any source of numbers."""
    tasks = _Maker(pick).some(depth=3, in_loop=False, most=4)
    fields = {}
    if pick(10) == 9:
        fields = {"timeout_seconds": 60, "timeout_policy": "TIME_OUT_WF"}
    return a_definition(*tasks, name="order", **fields)


class _Maker:
    """Gives every task a name of its own."""

    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.names = 0

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[self.pick(len(choices))]

    def ref(self) -> str:
        self.names += 1
        return f"t{self.names}"

    def some(self, depth: int, in_loop: bool, most: int = 3) -> tuple[WorkflowTask, ...]:
        count = 1 + self.pick(most)
        return tuple(task for _ in range(count) for task in self.one(depth, in_loop))

    def one(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        kinds = ["worker"] * 6 + ["set", "wait", "child", "noop", "timer", "dynamic_task", "human"]
        kinds += ["terminate"] if self.pick(6) == 5 else []
        if depth > 0:
            kinds += ["switch"] * 2 + ["fork"] * 2
            kinds += ["dynamic"] if self.names < 12 else []
            kinds += [] if in_loop else ["loop", "items"]
        kind = self.one_of(kinds)
        made: tuple[WorkflowTask, ...] = getattr(self, f"a_{kind}")(depth, in_loop)
        return made

    def a_worker(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        name = self.one_of(WORKERS)
        trait = self.one_of(["", "", "", "optional", "permissive"])
        fields: dict[str, object] = {trait: True} if trait else {}
        if self.pick(6) == 5:
            fields["start_delay"] = 3
        return (a_task(self.ref(), name=name, **fields),)

    def a_set(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        return (a_task(self.ref(), "SET_VARIABLE", input_parameters={"v": self.names}),)

    def a_noop(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        return (a_task(self.ref(), "NOOP"),)

    def a_wait(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        return (a_task(self.ref(), "WAIT"),)

    def a_timer(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        return (a_task(self.ref(), "WAIT", input_parameters={"duration": "10s"}),)

    def a_child(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        trait = self.one_of(["", "optional", "permissive"])
        return (a_child(self.ref(), "kid", **({trait: True} if trait else {})),)

    def a_switch(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        case = self.one_of("abz")
        cases = {key: self.some(depth - 1, in_loop) for key in ("a", "b")}
        if self.pick(2) == 1:
            cases["default"] = self.some(depth - 1, in_loop)
        return (a_switch(self.ref(), cases, input_parameters={"case": case}),)

    def a_fork(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        branches = [self.some(depth - 1, in_loop) for _ in range(1 + self.pick(3))]
        fields: dict[str, object] = {}
        if self.pick(5) == 4:
            fields[self.one_of(["optional", "permissive"])] = True
        return a_fork(self.ref(), *branches, join=self.ref(), **fields)

    def a_dynamic(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        stem = self.ref()
        count = self.pick(4)
        tasks = [
            {
                "name": self.one_of(WORKERS),
                "taskReferenceName": f"{stem}_{n}",
                "type": "SIMPLE",
                "optional": self.pick(2) == 1,
            }
            for n in range(count)
        ]
        fork, join = a_dynamic_fork(stem, join=self.ref())
        return fork.but(input_parameters={"tasks": tasks, "inputs": {}}), join

    def a_loop(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        return (a_loop(self.ref(), *self.some(depth - 1, True)),)

    def a_items(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        items = list(range(self.pick(4)))
        return (a_loop(self.ref(), *self.some(depth - 1, True), items=items),)

    def a_dynamic_task(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        given = {"which": self.one_of(WORKERS)}
        ref = self.ref()
        fields = {"dynamic_task_name_param": "which", "input_parameters": given}
        return (a_task(ref, "DYNAMIC", **fields),)

    def a_human(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        return (a_task(self.ref(), "HUMAN", optional=self.pick(2) == 1),)

    def a_terminate(self, depth: int, in_loop: bool) -> tuple[WorkflowTask, ...]:
        given = {"terminationStatus": self.one_of(["COMPLETED", "FAILED", "TERMINATED"])}
        return (a_task(self.ref(), "TERMINATE", input_parameters=given),)
