"""What a task leads to in its definition: everything that a rerun from it must run again."""

from dataclasses import dataclass

from engine.model.definitions import WorkflowTask
from engine.model.execution import Run
from engine.tasks.plan import Node
from engine.tasks.view import View


@dataclass(frozen=True, slots=True)
class Reach:
    """The reference names behind (and inside) a task, the task itself not among them."""

    refs: frozenset[str]
    origin: str

    def has(self, run: Run) -> bool:
        """Does the task lead to this attempt? What a dynamic fork has made belongs to the fork."""
        return run.ref in self.refs or run.fork in self.refs or run.fork == self.origin


def reach_of(view: View, node: Node) -> Reach:
    """Follow the task to the end of the workflow, through joins and out of loops."""
    found: set[str] = set(_inside(node.task))
    here: Node | None = node
    while here is not None:
        ref = here.next
        if ref is None:
            if here.loop is None:
                break
            loop = view.node(here.loop)
            # The loop itself goes on; what follows it is reached when it ends.
            here = loop
            continue
        if ref in found:
            break
        here = view.node(ref)
        if here is not None:
            found.add(ref)
            found.update(_inside(here.task))
    return Reach(frozenset(found), node.ref)


def _inside(task: WorkflowTask) -> list[str]:
    refs = []
    for tasks in task.inner_lists():
        for inner in tasks:
            refs.append(inner.ref)
            refs.extend(_inside(inner))
    return refs
