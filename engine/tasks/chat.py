"""LLM_CHAT_COMPLETE: a chat goes on. In a loop it remembers its own earlier answers, the tools that
were run for it, and what other participants have said; all of it stands in the task's input.
"""

from collections.abc import Iterator, Mapping, Sequence

from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.tasks.by_worker import ByWorker
from engine.tasks.plan import Node
from engine.tasks.view import View

Message = dict[str, Json]
"""A message in the words of the task's input: role, message, toolCalls."""

REFUSE_OWN_WORDS = frozenset({"anthropic", "bedrock", "mistral", "perplexity"})
"""Providers that take no conversation which ends with the assistant's own words."""


class ChatComplete(ByWorker):
    """A worker's task whose input is completed by what was said before."""

    def completed(
        self, view: View, run: Run, node: Node, given: dict[str, Json]
    ) -> dict[str, Json]:
        earlier = earlier_messages(view, run, given)
        if not earlier:
            return given
        said = given.get("messages") or []
        if not said and given.get("userInput") is not None:
            said = [{"role": "user", "message": given["userInput"]}]
        return {**given, "messages": [*said, *earlier]} if isinstance(said, list) else given


def earlier_messages(view: View, run: Run, given: Mapping[str, Json]) -> list[Message]:
    """The messages that come after those of the input."""
    participants = given.get("participants")
    roles = participants if isinstance(participants, dict) else {}
    if run.iteration < 2 and not roles:
        return []
    provider = str(given.get("llmProvider") or "").strip().lower()
    speaks = provider not in REFUSE_OWN_WORDS and not given.get("previousResponseId")
    return list(_told(view, run, roles, speaks))


def _told(view: View, own: Run, roles: Mapping[str, Json], speaks: bool) -> Iterator[Message]:
    done = [run for run in view.all_runs() if run.status.terminal and run.status.successful]
    for run in done:
        if run.ref == own.ref:
            answer = view.output(run)
            if answer.get("toolCalls"):
                yield from _tool_turns(view, answer["toolCalls"], done)
            elif speaks and run.iteration:
                yield from _spoken("assistant", answer)
        elif roles.get(run.ref):
            yield from _taken_part(view, run, str(roles[run.ref]))


def _tool_turns(view: View, calls: Json, done: Sequence[Run]) -> Iterator[Message]:
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
