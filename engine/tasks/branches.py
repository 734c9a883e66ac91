"""Tasks that choose or spread: SWITCH, DECISION, FORK_JOIN, FORK_JOIN_DYNAMIC."""

from collections.abc import Sequence

from engine.expressions.scripts import EVALUATORS, VALUE_PARAM, Language, ScriptJob, case_text
from engine.model.definitions import WorkflowTask
from engine.model.errors import InvalidInput
from engine.model.events import Answer
from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.draft import Again, Draft
from engine.tasks.forking import BadFork, forked_tasks
from engine.tasks.kind import NOTHING, SCRIPT, TaskKind, answer_value, fail, give_input
from engine.tasks.plan import Node, compile_tasks
from engine.tasks.view import View


class Switch(TaskKind):
    """Evaluates an expression and goes on with the task list of its case."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        if not self.evaluable(node.task):
            reason = f"No evaluator registered for type: {node.task.evaluator_type or 'null'}"
            d.end_workflow(ExecutionStatus.FAILED, reason)
            return NOTHING
        run = d.add(node, iteration, TaskStatus.IN_PROGRESS, again=again, name=node.task.type)
        give_input(d, run, node, again)
        return self.reopen(d, run, node)

    def evaluable(self, task: WorkflowTask) -> bool:
        """Is there somebody who can evaluate its expression?"""
        return task.evaluator_type == VALUE_PARAM or task.evaluator_type in EVALUATORS

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        run = d.edit(run)
        if node.task.evaluator_type == VALUE_PARAM:
            value = d.input(run).get(node.task.expression or "")
            return self.choose(d, run, node, value)
        run.carrier = SCRIPT
        return NOTHING

    def job(self, view: View, run: Run, node: Node) -> ScriptJob:
        task = node.task
        language = EVALUATORS[task.evaluator_type or ""]
        return ScriptJob(language, task.expression or "", view.input(run))

    def answer(self, d: Draft, run: Run, node: Node, answer: Answer) -> Sequence[str]:
        d.log(run, answer.logs)
        if answer.error is not None:
            return fail(d, run, answer.error)
        return self.choose(d, run, node, answer_value(answer))

    def choose(self, d: Draft, run: Run, node: Node, value: Json) -> Sequence[str]:
        """The switch is done; the head of the chosen case comes next."""
        case = case_text(value)
        tasks = self.branch(node.task, case)
        given = {**d.input(run), "case": case}
        if tasks:
            given["hasChildren"] = "true"
        run = d.edit(run)
        run.input = encode(given)
        d.end(run, TaskStatus.COMPLETED, self.outcome(case))
        return (tasks[0].ref,) if tasks else NOTHING

    def branch(self, task: WorkflowTask, case: str) -> Sequence[WorkflowTask]:
        """The list of a case; only a missing key falls to the default."""
        return task.decision_cases.get(case, task.default_case)

    def outcome(self, case: str) -> dict[str, Json]:
        """The recorded output."""
        return {"evaluationResult": [case], "selectedCase": case}


class Decision(Switch):
    """The older form of SWITCH; an empty case list falls to the default as well."""

    def evaluable(self, task: WorkflowTask) -> bool:
        return True

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        run = d.edit(run)
        if (node.task.case_expression or "").strip():
            run.carrier = SCRIPT
            return NOTHING
        value = d.input(run).get(node.task.case_value_param or "")
        return self.choose(d, run, node, value)

    def job(self, view: View, run: Run, node: Node) -> ScriptJob:
        return ScriptJob(Language.JAVASCRIPT, node.task.case_expression or "", view.input(run))

    def answer(self, d: Draft, run: Run, node: Node, answer: Answer) -> Sequence[str]:
        d.log(run, answer.logs)
        if answer.error is None:
            return self.choose(d, run, node, answer_value(answer))
        reason = f"Error while evaluating script: {node.task.case_expression}"
        d.end_workflow(ExecutionStatus.FAILED, reason, run)
        return NOTHING

    def branch(self, task: WorkflowTask, case: str) -> Sequence[WorkflowTask]:
        return task.decision_cases.get(case) or task.default_case

    def outcome(self, case: str) -> dict[str, Json]:
        return {"caseOutput": [case]}


class Fork(TaskKind):
    """Starts all its branches and the JOIN behind it at once."""

    recorded_type = "FORK"

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        join = None if node.next is None else d.node(node.next)
        if join is None or join.task.type not in ("JOIN", "EXCLUSIVE_JOIN"):
            reason = "Fork task definition is not followed by a join task.  Check the blueprint"
            d.end_workflow(ExecutionStatus.FAILED, reason)
            return NOTHING
        run = d.add(node, iteration, TaskStatus.IN_PROGRESS, again=again, type_="FORK", name="FORK")
        give_input(d, run, node, again)
        d.end(run, TaskStatus.COMPLETED)
        return (*(branch[0].ref for branch in node.task.fork_tasks if branch), join.ref)

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        d.end(run, TaskStatus.COMPLETED)
        return NOTHING


class DynamicFork(Fork):
    """A fork whose branches are made from its input. It becomes a fork with those branches:
    from here on nothing tells it from one that was written so."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        join = None if node.next is None else d.node(node.next)
        if join is None or join.task.type != "JOIN":
            return self._refuse(
                d,
                "Dynamic join definition is not followed by a join task.  "
                "Check the workflow definition.",
            )
        given: dict[str, Json] = dict(d.fill(node.template))
        try:
            children = forked_tasks(node.task, given, self._used_names(d, node))
        except (BadFork, InvalidInput) as error:
            return self._refuse(d, str(error))
        children = [self._with_definition(d, child) for child in children]
        double = self._already_used(d, children, iteration)
        if double is not None:
            return self._refuse(
                d,
                f"No dynamic tasks could be created for the Workflow: {d.execution.id}, Dynamic "
                f"Fork Task: {node.ref} attempted to create a duplicate task reference name: "
                f"{double}",
            )
        self._grow(d, node, join, iteration, children)
        run = d.add(node, iteration, TaskStatus.IN_PROGRESS, again=again, type_="FORK", name="FORK")
        given["forkedTasks"] = [child.ref for child in children]
        given["forkedTaskDefs"] = [child.json_value() for child in children]
        run.input = encode(given)
        run.node = d.node_of(run).task
        d.end(run, TaskStatus.COMPLETED)
        return (*(child.ref for child in children), join.ref)

    @staticmethod
    def _refuse(d: Draft, reason: str) -> Sequence[str]:
        d.end_workflow(ExecutionStatus.FAILED, reason)
        return NOTHING

    @staticmethod
    def _used_names(d: Draft, node: Node) -> bool:
        """Has another dynamic fork run in this execution before?"""
        known = {**d.nodes, **d.changes.nodes}
        return any(
            other.task.type == "FORK_JOIN_DYNAMIC" and ref != node.ref and d.newest(ref) is not None
            for ref, other in known.items()
        )

    @staticmethod
    def _with_definition(d: Draft, child: WorkflowTask) -> WorkflowTask:
        if child.task_definition is not None:
            return child
        found = d.facts.task_def(child.name or "")
        return child if found is None else child.but(task_definition=found)

    @staticmethod
    def _already_used(d: Draft, children: Sequence[WorkflowTask], iteration: int) -> str | None:
        seen: set[str] = set()
        for child in children:
            ref = child.ref
            if ref in seen or ref in d.plan.nodes:
                return ref
            run = d.newest(ref)
            if run is not None and run.iteration == iteration and run.status.terminal:
                return ref
            seen.add(ref)
        return None

    @staticmethod
    def _grow(
        d: Draft, node: Node, join: Node, iteration: int, children: Sequence[WorkflowTask]
    ) -> None:
        """Make the fork a fork over these children, and its JOIN wait for them."""
        fork = node.task.but(fork_tasks=tuple((child,) for child in children))
        waiting = join.task.but(join_on=tuple(child.ref for child in children))
        d.know(grown((fork, waiting), node, join))


def grown(tasks: tuple[WorkflowTask, WorkflowTask], fork: Node, join: Node) -> dict[str, Node]:
    """The nodes of a filled dynamic fork and its JOIN, in the place of those that were planned. A
    child without a definition anywhere has no retries, as in Conductor."""
    nodes = compile_tasks(tasks, join.next, fork.loop)
    for planned in (fork, join):
        nodes[planned.ref].feeds = planned.feeds
    for node in nodes.values():
        if node.task is not tasks[0] and node.task is not tasks[1]:
            node.fork = tasks[0].ref
    for branch in tasks[0].fork_tasks:
        for child in branch:
            if child.task_definition is None:
                nodes[child.ref].task_def = nodes[child.ref].task_def.but(retry_count=0)
    return nodes
