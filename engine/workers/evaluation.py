"""Scripts of tasks, carried out: a question from the core goes to an evaluator process, its answer
comes back as an event. The core thread never waits for one. References to secrets are filled in on
the way to the process, in a copy that is stored nowhere."""

import threading
from queue import SimpleQueue

from engine.core.questions import Question, event_of
from engine.expressions.scripts import ScriptAnswer
from engine.services.secrets import Secrets
from engine.workers.evaluators import EvaluatorPool
from engine.workers.reporting import Reporting


class Evaluation:
    """One thread for each evaluator process."""

    def __init__(
        self, evaluators: EvaluatorPool, size: int, reporting: Reporting, secrets: Secrets
    ) -> None:
        self._evaluators = evaluators
        self._reporting = reporting
        self._secrets = secrets
        self._asked: SimpleQueue[Question | None] = SimpleQueue()
        self._under_way: set[tuple[int, int, int]] = set()
        self._lock = threading.Lock()
        self._stopping = False
        self._threads = [
            threading.Thread(target=self._run, name=f"reprise-script-{number}", daemon=True)
            for number in range(size)
        ]

    def ask(self, question: Question) -> None:
        """Take a question; one that is under way already is not asked twice."""
        place = (question.execution, question.seq, question.asked)
        with self._lock:
            if place in self._under_way:
                return
            self._under_way.add(place)
        self._asked.put(question)

    @property
    def under_way(self) -> int:
        """Questions that are not answered yet."""
        with self._lock:
            return len(self._under_way)

    def start(self) -> None:
        """Begin to answer."""
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float) -> None:
        """End the scripts that run. What is not answered is asked again at the next start."""
        self._stopping = True
        for _ in self._threads:
            self._asked.put(None)
        self._evaluators.close()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(seconds)

    def _run(self) -> None:
        while (question := self._asked.get()) is not None:
            if self._stopping:
                continue
            answer = self._evaluators.evaluate(self._secrets.filled_job(question.job))
            if self._stopping and answer.retriable:
                continue
            self._report(question, answer)

    def _report(self, question: Question, answer: ScriptAnswer) -> None:
        place = (question.execution, question.seq, question.asked)
        event = self._secrets.cleaned_answer(event_of(question, answer))
        self._reporting.send(question.execution, event, lambda: self._forget(place))

    def _forget(self, place: tuple[int, int, int]) -> None:
        with self._lock:
            self._under_way.discard(place)
