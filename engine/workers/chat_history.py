"""What a chat task in a loop remembers: its own earlier answers, the tools that were run for it, and
what other participants have said. Read from the execution as it is committed."""

from collections.abc import Callable, Iterator, Mapping

from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.tasks.view import View, list_order
from engine.workers.lane import Job

Recall = Callable[[int], View | None]
"""An execution by its number."""

Message = dict[str, Json]
"""A message in the words of the task's input: role, message, toolCalls."""


def earlier_messages(
    recall: Recall, job: Job, given: Mapping[str, Json], own_words: bool
) -> list[Message]:
    """The messages that come after those of the input; `own_words` are answers in plain text."""
    run = job.handed.run
    participants = given.get("participants")
    roles = participants if isinstance(participants, dict) else {}
    if run.iteration < 2 and not roles:
        return []
    view = recall(job.handed.execution.key)
    if view is None:
        return []
    speaks = own_words and not given.get("previousResponseId")
    return list(_told(view, run, roles, speaks))


def _told(view: View, own: Run, roles: Mapping[str, Json], speaks: bool) -> Iterator[Message]:
    done = sorted(
        (r for r in view.execution.runs.values() if r.status.terminal and r.status.successful),
        key=list_order,
    )
    for run in done:
        if run.ref == own.ref:
            answer = view.output(run)
            if answer.get("toolCalls"):
                yield from _tool_turns(view, answer["toolCalls"], done)
            elif speaks and run.iteration:
                yield from _spoken("assistant", answer)
        elif roles.get(run.ref):
            yield from _taken_part(view, run, str(roles[run.ref]))


def _tool_turns(view: View, calls: Json, done: list[Run]) -> Iterator[Message]:
    """Each call whose tool has run, followed by what the tool has answered."""
    for call in calls if isinstance(calls, list) else []:
        for run in done:
            if isinstance(call, dict) and run.ref == call.get("taskReferenceName"):
                yield {"role": "tool_call", "toolCalls": [call]}
                yield {"role": "tool", "toolCalls": [{**call, "output": view.output(run)}]}


def _taken_part(view: View, run: Run, role: str) -> Iterator[Message]:
    """A tool's answer has no place without its call; everybody else just speaks."""
    output = view.output(run)
    if role in ("tool", "tool_call"):
        call: Message = {"taskReferenceName": run.task_id, "name": run.name, "type": run.type}
        yield {"role": "tool_call", "toolCalls": [{**call, "inputParameters": view.input(run)}]}
        yield {"role": "tool", "toolCalls": [{**call, "output": output}]}
        return
    yield from _spoken(role, output if "result" in output else {"result": output or None})


def _spoken(role: str, output: Mapping[str, Json]) -> Iterator[Message]:
    """The result as words; an object that has a `response` stands for that."""
    result = output.get("result")
    if isinstance(result, dict):
        result = result.get("response", result)
    if result is not None:
        text = result if isinstance(result, str) else encode(result).decode()
        yield {"role": role, "message": text}
