"""Scripts are carried out by evaluators: their work is not claimed, only answered."""

import traceback
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from engine.core.handout import Handout
from engine.core.inbox import Asked
from engine.core.knowledge import Knowledge
from engine.core.live import Live
from engine.expressions.scripts import ScriptAnswer, ScriptJob
from engine.instruments.clock import Clock
from engine.instruments.telemetry import Telemetry
from engine.model.events import Answer
from engine.model.execution import Execution, Run
from engine.store.contract import Store
from engine.tasks.kind import SCRIPT
from engine.tasks.registry import kind_of
from engine.tasks.view import View


@dataclass(frozen=True, slots=True)
class Question:
    """A script that an evaluator is to run, and where its answer belongs."""

    execution: int
    seq: int
    asked: int
    job: ScriptJob


Evaluate = Callable[[Question], None]


def event_of(question: Question, answer: ScriptAnswer) -> Answer:
    """What an evaluator said, as the event that the question waits for."""
    return Answer(
        seq=question.seq,
        asked=question.asked,
        value=answer.value,
        error=answer.error,
        timed_out=answer.retriable,
        not_finite=answer.not_finite,
        logs=answer.logs,
    )


class Questions:
    """Finds the scripts that wait, and asks them."""

    def __init__(
        self,
        store: Store,
        live: Live,
        handout: Handout,
        knowledge: Knowledge,
        clock: Clock,
        telemetry: Telemetry,
        evaluate: Evaluate,
    ) -> None:
        self._store = store
        self._live = live
        self._handout = handout
        self._knowledge = knowledge
        self._clock = clock
        self._telemetry = telemetry
        self._evaluate = evaluate

    def ask(self) -> list[Asked]:
        """Hand all scripts that wait to the evaluators; what could not even be asked, as answers."""
        answers: list[Asked] = []
        now = self._clock.now()
        while (ready := self._handout.take((SCRIPT, None), now)) is not None:
            execution = self._live.get(ready.execution)
            run = None if execution is None else execution.runs.get(ready.seq)
            if execution is None or run is None or not run.open or run.carrier != SCRIPT:
                continue
            try:
                question = self._question(execution, run, now)
            except Exception as error:
                trace = "".join(traceback.format_exception(error))
                self._telemetry.say("question.poisoned", execution=execution, run=run, trace=trace)
                answer = Answer(seq=run.seq, asked=run.iteration, error=str(error))
                answers.append(Asked(answer, key=execution.key))
                continue
            if question is not None:
                self._evaluate(question)
        return answers

    def _question(self, execution: Execution, run: Run, now: int) -> Question | None:
        key = execution.key
        facts = self._knowledge.facts(
            now,
            partial(self._store.payload, key),
            partial(self._store.outputs, key),
        )
        view = View(execution, facts)
        node = view.node_of(run)
        job = kind_of(node.task.type).job(view, run, node)
        if job is None:
            return None
        # Both belong to the attempt: asked again, the script gives the same answer.
        seed = zlib.crc32(f"{run.task_id}/{run.iteration}".encode())
        job = replace(job, seed=seed, now_ms=run.updated_at or run.scheduled_at)
        return Question(key, run.seq, run.iteration, job)
