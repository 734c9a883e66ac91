"""A chat task's input as a request of the OpenAI-compatible protocol. Nothing is sent here."""

import re
from collections.abc import Mapping

from engine.expressions.java_text import java_text
from engine.model.record import Json, encode
from engine.workers.ai_task import (
    FinalFailure,
    list_field,
    number_field,
    object_field,
    text_field,
    true_field,
    whole_field,
)
from engine.workers.llm_providers import Dialect

Object = dict[str, Json]

DEFAULT_TOKENS = 8192
ONLY_INSTRUCTIONS = "Please do what the instructions say."
"""The user's turn where the input has none: no provider answers to instructions alone."""
ONE_OBJECT = "Answer with one JSON object and nothing else."

NUMBERS = {
    "temperature": "temperature",
    "topP": "top_p",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
}
UNHEARD = (
    "webSearch",
    "codeInterpreter",
    "googleSearchRetrieval",
    "fileSearchVectorStoreIds",
    "previousResponseId",
    "thinkingTokenLimit",
    "reasoningSummary",
    "outputMimeType",
    "voice",
)
"""Fields that have no counterpart in this protocol."""

_VARIABLE = re.compile(r"\$\{([^}]+)\}")


def request_body(given: Mapping[str, Json], dialect: Dialect) -> Object:
    """The body to send."""
    body: Object = {
        "model": model_of(given),
        "messages": _conversation(given, dialect),
        dialect.most_tokens: whole_field(given, "maxTokens", DEFAULT_TOKENS),
    }
    body |= {name: number_field(given, field) for field, name in NUMBERS.items()}
    if dialect.top_k:
        body["top_k"] = whole_field(given, "topK", None)
    results = whole_field(given, "maxResults", 1)
    body["n"] = results if results != 1 else None
    stops = given.get("stopWords")
    body["stop"] = [stops] if isinstance(stops, str) and stops else stops or None
    body["reasoning_effort"] = text_field(given, "reasoningEffort").lower() or None
    body["tools"] = [_tool(item) for item in list_field(given, "tools")] or None
    if wants_json(given) and dialect.json_mode:
        body["response_format"] = {"type": "json_object"}
    return {name: value for name, value in body.items() if value is not None}


def model_of(given: Mapping[str, Json]) -> str:
    """The model that the input names."""
    model = text_field(given, "model").strip()
    if not model:
        raise FinalFailure("model is missing: name the provider's model.")
    return model


def wants_json(given: Mapping[str, Json]) -> bool:
    """Is the answer to be read as JSON? A schema for it says so too."""
    return true_field(given, "jsonOutput") or bool(object_field(given, "outputSchema"))


def unheard(given: Mapping[str, Json], dialect: Dialect) -> tuple[str, ...]:
    """What the log says about fields that the provider cannot be told."""
    names = [name for name in UNHEARD if given.get(name)]
    if given.get("topK") is not None and not dialect.top_k:
        names.append("topK")
    return (f"not told to the provider: {', '.join(names)}",) if names else ()


def _conversation(given: Mapping[str, Json], dialect: Dialect) -> list[Object]:
    variables = object_field(given, "promptVariables")
    said = [_checked(item) for item in list_field(given, "messages")]
    if not said and given.get("userInput") is not None:
        said = [{"role": "user", "message": text_field(given, "userInput")}]
    instructions = text_field(given, "instructions")
    if not said:
        if not instructions.strip():
            raise FinalFailure("There is nothing to say: give messages, userInput or instructions.")
        said = [{"role": "user", "message": ONLY_INSTRUCTIONS}]
    turns: list[Object] = []
    if instructions.strip():
        turns.append({"role": "system", "content": filled(instructions, variables)})
    if wants_json(given):
        turns.append({"role": "system", "content": _json_wish(given, dialect)})
    for message in said:
        turns += _turns(message, variables)
    return turns


def _json_wish(given: Mapping[str, Json], dialect: Dialect) -> str:
    """The wish for JSON in words: providers that can be bound to it ask for that as well."""
    schema = object_field(given, "outputSchema").get("data")
    if not schema:
        return ONE_OBJECT
    return f"{ONE_OBJECT} It has to fit this JSON Schema: {encode(schema).decode()}"


def filled(text: str, variables: Mapping[str, Json]) -> str:
    """A prompt with its variables; a name that is none of them stays as it is."""

    def value(found: re.Match[str]) -> str:
        name = found[1].strip()
        return java_text(variables[name]) if name in variables else found[0]

    return _VARIABLE.sub(value, text) if variables else text


def _checked(message: Json) -> Object:
    if not isinstance(message, dict):
        shown = java_text(message)
        raise FinalFailure(f"messages has {shown!r}: each message must be an object.")
    return message


def _turns(message: Object, variables: Mapping[str, Json]) -> list[Object]:
    """A message of the input as one or more of the protocol."""
    role = message.get("role")
    text = filled(text_field(message, "message"), variables)
    if role in ("system", "assistant"):
        return [{"role": role, "content": text}]
    if role == "user":
        return [{"role": role, "content": _with_media(text, message)}]
    calls = [call for call in list_field(message, "toolCalls") if isinstance(call, dict)]
    if role == "tool_call":
        asked = [_asked_call(call) for call in calls]
        return [{"role": "assistant", "content": text, "tool_calls": asked}]
    if role == "tool":
        return [
            {
                "role": "tool",
                "tool_call_id": text_field(call, "taskReferenceName"),
                "content": encode(call.get("output")).decode(),
            }
            for call in calls
        ]
    raise FinalFailure(
        f"A message has the role {role!r}: use user, assistant, system, tool_call or tool."
    )


def _with_media(text: str, message: Object) -> Json:
    """The text alone, or with its pictures."""
    places = [str(place) for place in list_field(message, "media")]
    if not places:
        return text
    kind = text_field(message, "mimeType") or "image/png"
    if not kind.startswith("image/"):
        raise FinalFailure(f"mimeType is {kind!r}: only images can be sent with a message.")
    parts: list[Object] = [{"type": "text", "text": text}] if text else []
    for place in places:
        linked = place.startswith(("http://", "https://", "data:"))
        url = place if linked else f"data:{kind};base64,{place}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _tool(item: Json) -> Object:
    if not isinstance(item, dict) or not item.get("name"):
        raise FinalFailure(
            f"tools has {java_text(item)!r}: each tool must be an object with a name."
        )
    function: Object = {
        "name": item["name"],
        "description": item.get("description") or "",
        "parameters": item.get("inputSchema") or {"type": "object", "properties": {}},
    }
    return {"type": "function", "function": function}


def _asked_call(call: Object) -> Object:
    arguments = dict(object_field(call, "inputParameters"))
    name = text_field(call, "name")
    if arguments.get("method") == name:
        del arguments["method"]
    function = {"name": name, "arguments": encode(arguments).decode()}
    return {
        "id": text_field(call, "taskReferenceName"),
        "type": "function",
        "function": function,
    }
