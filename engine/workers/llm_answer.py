"""The answer of a provider as a chat task's output: words, calls of tools, JSON that fits its schema,
and what it has cost."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from engine.model.definitions import SchemaDef
from engine.model.errors import InvalidInput
from engine.model.record import Json, decode, encode
from engine.services.schemas import schema_complaint
from engine.workers.ai_task import Failure, FinalFailure, list_field, object_field
from engine.workers.llm_request import wants_json

Object = dict[str, Json]

REASONS = {"END_TURN": "STOP", "TOOL_USE": "TOOL_CALLS", "REFUSAL": "CONTENT_FILTER"}
"""Words that some providers have for why an answer ended."""

_FENCED = re.compile(r"\A```[a-zA-Z]*\s*\n(.*?)\n?\s*```\Z", re.DOTALL)


def output_of(answer: Object, given: Mapping[str, Json], task_id: str) -> Object:
    """The task's output. Raises Failure when the answer is not what the input asked for; what the
    answer has cost stays known then."""
    choices = _objects(answer.get("choices"))
    messages = _objects([item.get("message") for item in choices])
    if not messages:
        raise Failure(f"The provider answered without choices: {encode(answer)[:400].decode()}")
    calls = _calls(
        [call for m in messages for call in _objects(m.get("tool_calls"))], given, task_id
    )
    texts = [text for message in messages if (text := _text(message))]
    reasons = [str(item["finish_reason"]).upper() for item in choices if item.get("finish_reason")]
    reason = reasons[0] if reasons else None
    output: Object = {
        "result": texts[0] if len(texts) == 1 else texts or None,
        "finishReason": "TOOL_CALLS" if calls else reason and REASONS.get(reason, reason),
        "toolCalls": calls or None,
        "responseId": answer.get("id"),
        "reasoning": _thoughts(messages[0]),
        **_usage(answer.get("usage")),
    }
    output = {name: value for name, value in output.items() if value is not None}
    if wants_json(given) and not calls:
        output["result"] = _read(texts, given, output)
    return output


def _objects(value: Json) -> list[Object]:
    """The objects of a list; what a provider sends besides is not of this protocol."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(message: Object) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = [item.get("text") for item in content if isinstance(item, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _thoughts(message: Object) -> str | None:
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str) and message[name]:
            return str(message[name])
    return None


def _usage(usage: Json) -> Object:
    if not isinstance(usage, dict):
        return {}
    prompt, completion = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    details = usage.get("completion_tokens_details") or {}
    return {
        "tokenUsed": usage.get("total_tokens") or prompt + completion,
        "promptTokens": prompt,
        "completionTokens": completion,
        "reasoningTokens": details.get("reasoning_tokens") or None,
    }


def _calls(found: Sequence[Json], given: Mapping[str, Json], task_id: str) -> list[Object]:
    tools = {t.get("name"): t for t in list_field(given, "tools") if isinstance(t, dict)}
    calls = []
    for number, item in enumerate(found, 1):
        function = item.get("function") or {}
        name = str(function.get("name"))
        tool = tools.get(name, {})
        call: Object = {
            "taskReferenceName": item.get("id") or f"call_{task_id}_{number}",
            "name": name,
            "type": tool.get("type") or "SIMPLE",
            "inputParameters": {**_arguments(function.get("arguments")), "method": name},
        }
        if tool.get("integrationNames"):
            call["integrationNames"] = tool["integrationNames"]
        calls.append(call)
    return calls


def _arguments(value: Json) -> Object:
    """A call's arguments; models also write objects in texts, down to any depth."""
    found = unwrapped(value)
    return found if isinstance(found, dict) else {}


def unwrapped(value: Any) -> Json:
    """The value with every text that is a JSON object or list as that object or list."""
    if isinstance(value, str):
        text = value.strip()
        if text[:1] + text[-1:] not in ("{}", "[]"):
            return value
        try:
            return unwrapped(decode(text.encode()))
        except ValueError:
            return value
    if isinstance(value, dict):
        return {key: unwrapped(member) for key, member in value.items()}
    return [unwrapped(member) for member in value] if isinstance(value, list) else value


def _read(texts: Sequence[str], given: Mapping[str, Json], output: Object) -> Json:
    """The answers as JSON that fits the schema."""
    values = []
    for text in texts or ("",):
        fenced = _FENCED.match(text.strip())
        try:
            value = decode((fenced[1] if fenced else text).strip().encode())
        except ValueError as error:
            raise Failure(f"The answer is not JSON ({error}): {text[:300]}", output) from error
        complaint = _complaint(given, value)
        if complaint is not None:
            raise Failure(f"The answer does not fit outputSchema: {complaint}", output)
        values.append(value)
    return values[0] if len(values) == 1 else values


def _complaint(given: Mapping[str, Json], value: Json) -> str | None:
    schema = object_field(given, "outputSchema")
    if not schema:
        return None
    try:
        return schema_complaint(SchemaDef.read(schema), value)
    except InvalidInput as error:
        raise FinalFailure(f"outputSchema cannot be read: {error}") from error
