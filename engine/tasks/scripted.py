"""Tasks whose outcome is a script's: INLINE, LAMBDA, JSON_JQ_TRANSFORM.

The script is work for an evaluator; its answer comes back as an event and is stored, so it is
never evaluated twice for one attempt.
"""

from collections.abc import Sequence

from engine.expressions.scripts import EVALUATORS, VALUE_PARAM, Language, ScriptJob
from engine.model.events import Answer
from engine.model.execution import Run
from engine.model.record import Json
from engine.model.status import TaskStatus
from engine.tasks.draft import Again, Draft
from engine.tasks.kind import NOTHING, SCRIPT, TaskKind, fail, give_input, hold_back
from engine.tasks.plan import Node
from engine.tasks.view import View


class Scripted(TaskKind):
    """Placed in progress with the evaluator as carrier, or failed where there is no script."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        run = d.add(node, iteration, TaskStatus.IN_PROGRESS, again=again)
        give_input(d, run, node, again)
        if again is not None:
            hold_back(run, node, again)
        return self.reopen(d, run, node)

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        run = d.edit(run)
        complaint = self.complaint(d.input(run))
        if complaint is not None:
            return fail(d, run, complaint, for_good=self.fails_for_good)
        run.carrier = SCRIPT
        return NOTHING

    fails_for_good = False

    def complaint(self, given: dict[str, Json]) -> str | None:
        """Why this input cannot be evaluated."""
        raise NotImplementedError

    def answer(self, d: Draft, run: Run, node: Node, answer: Answer) -> Sequence[str]:
        d.log(run, answer.logs)
        if answer.error is not None:
            for_good = self.fails_for_good and not answer.timed_out
            return fail(d, run, answer.error, for_good=for_good, output={"error": answer.error})
        d.end(run, TaskStatus.COMPLETED, self.outcome(answer.value))
        return NOTHING

    def outcome(self, value: Json) -> dict[str, Json]:
        """The task output that a value makes."""
        return {"result": value}


class Inline(Scripted):
    """A script over the task's input as `$`."""

    fails_for_good = True

    def complaint(self, given: dict[str, Json]) -> str | None:
        empty = (
            "Empty '{0}' in {1} task's input parameters. A non-empty String value must be provided."
        )
        language = given.get("evaluatorType", "javascript")
        if language is not None and not str(language).strip():
            return empty.format("evaluatorType", "INLINE")
        expression = given.get("expression")
        if not isinstance(expression, str) or not expression.strip():
            return empty.format("expression", "Inline")
        if language is not None and language not in EVALUATORS and language != VALUE_PARAM:
            return f"Unknown evaluator '{language}' in INLINE task."
        return None

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        super().reopen(d, run, node)
        run = d.edit(run)
        if run.carrier == SCRIPT and d.input(run).get("evaluatorType") == VALUE_PARAM:
            run.carrier = None
            d.act_later(run)
        return NOTHING

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        given = d.input(run)
        d.end(run, TaskStatus.COMPLETED, self.outcome(given.get(given["expression"])))
        return NOTHING

    def job(self, view: View, run: Run, node: Node) -> ScriptJob:
        given = view.input(run)
        language = EVALUATORS[str(given.get("evaluatorType") or "javascript")]
        return ScriptJob(language, given["expression"], given, takes_secrets=True)


class Lambda(Scripted):
    """The older form of INLINE: a function body."""

    def complaint(self, given: dict[str, Json]) -> str | None:
        expression = given.get("scriptExpression")
        if isinstance(expression, str) and expression.strip():
            return None
        return (
            "Empty 'scriptExpression' in Lambda task's input parameters. "
            "A non-empty String value must be provided."
        )

    def job(self, view: View, run: Run, node: Node) -> ScriptJob:
        given = view.input(run)
        return ScriptJob(Language.LAMBDA, given["scriptExpression"], given, takes_secrets=True)


class JqTransform(Scripted):
    """A jq program over the whole task input."""

    def complaint(self, given: dict[str, Json]) -> str | None:
        expression = given.get("queryExpression")
        if isinstance(expression, str) and expression:
            return None
        return "Missing 'queryExpression' in input parameters"

    def job(self, view: View, run: Run, node: Node) -> ScriptJob:
        given = view.input(run)
        return ScriptJob(Language.JQ, given["queryExpression"], given, takes_secrets=True)

    def outcome(self, value: Json) -> dict[str, Json]:
        found = value if isinstance(value, list) else []
        return {"result": found[0] if found else None, "resultList": found}
