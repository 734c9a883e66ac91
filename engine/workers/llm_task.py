"""LLM_CHAT_COMPLETE, LLM_TEXT_COMPLETE and LLM_GENERATE_EMBEDDINGS: asked of whatever provider the
input names, over HTTP. What differs between providers belongs to `llm_providers.py`."""

from collections.abc import Mapping
from typing import Any

from engine.expressions.java_text import java_text
from engine.instruments.telemetry import Telemetry
from engine.model.record import Json
from engine.workers.ai_task import (
    AiCraft,
    Failure,
    FinalFailure,
    Success,
    read_object,
    refusal,
    send,
    text_field,
    whole_field,
)
from engine.workers.http_call import Caller
from engine.workers.lane import Job
from engine.workers.llm_answer import output_of
from engine.workers.llm_providers import Endpoint, Providers
from engine.workers.llm_request import model_of, request_body, unheard

CHAT, TEXT, EMBEDDINGS = "LLM_CHAT_COMPLETE", "LLM_TEXT_COMPLETE", "LLM_GENERATE_EMBEDDINGS"

NO_TEXT = "No input text provided to generate embeddings"


class Models:
    """What providers are asked, and what comes of it."""

    def __init__(
        self, caller: Caller, providers: Providers, telemetry: Telemetry | None = None
    ) -> None:
        self._caller = caller
        self._providers = providers
        self._telemetry = telemetry or Telemetry()

    def crafts(self) -> dict[str, AiCraft]:
        """Who carries out each task word."""
        work = {CHAT: self._in_chat, TEXT: self._in_text, EMBEDDINGS: self._in_embeddings}
        return {word: AiCraft(does) for word, does in work.items()}

    def _in_chat(self, job: Job, given: dict[str, Json]) -> Success:
        return self.chat(given, job.context.task_id)

    def _in_text(self, job: Job, given: dict[str, Json]) -> Success:
        return self.text(given, job.context.task_id)

    def _in_embeddings(self, job: Job, given: dict[str, Json]) -> Success:
        return self.embeddings(given)

    def chat(self, given: Mapping[str, Json], task_id: str) -> Success:
        """Go on with a conversation."""
        endpoint = self._providers.endpoint(given.get("llmProvider"))
        body = request_body(given, endpoint.dialect)
        answer = self._ask(endpoint, "chat/completions", body, given)
        return Success(output_of(answer, given, task_id), unheard(given, endpoint.dialect))

    def text(self, given: Mapping[str, Json], task_id: str) -> Success:
        """Answer to a prompt: a conversation that has instructions alone."""
        prompt = text_field(given, "promptName") or text_field(given, "prompt")
        if not prompt.strip():
            raise FinalFailure("prompt is missing: say what the model is to answer.")
        others = {k: v for k, v in given.items() if k not in ("messages", "userInput")}
        return self.chat({**others, "instructions": prompt}, task_id)

    def embeddings(self, given: Mapping[str, Json]) -> Success:
        """A text as a list of numbers."""
        text = text_field(given, "text")
        if not text.strip():
            raise FinalFailure(NO_TEXT)
        endpoint = self._providers.endpoint(given.get("llmProvider"))
        body: dict[str, Json] = {"model": model_of(given), "input": text}
        dimensions = whole_field(given, "dimensions", None)
        if dimensions is not None:
            body["dimensions"] = dimensions
        answer = self._ask(endpoint, "embeddings", body, given)
        return Success({"result": _first_embedding(answer)})

    def _ask(
        self, endpoint: Endpoint, path: str, body: Json, given: Mapping[str, Json]
    ) -> dict[str, Any]:
        answer = send(self._caller, endpoint.url(path), endpoint.headers(), body)
        if not 200 <= answer.status < 300:
            keyless = answer.status in (401, 403) and not endpoint.key
            hint = f" (no key was sent: {endpoint.key_variable} is not set)" if keyless else ""
            raise refusal(answer, endpoint.word, endpoint.key, hint)
        found = read_object(answer, endpoint.word)
        self._tell_cost(found.get("usage"), model_of(given))
        return found

    def _tell_cost(self, usage: Json, model: str) -> None:
        """What an answer has cost is known even if it cannot be used."""
        for kind in ("prompt", "completion"):
            number = usage.get(f"{kind}_tokens") if isinstance(usage, dict) else None
            if isinstance(number, int) and number > 0:
                self._telemetry.say("tokens.used", model=model, kind=kind, amount=number)


def _first_embedding(answer: Mapping[str, Json]) -> list[Json]:
    data = answer.get("data")
    first = data[0] if isinstance(data, list) and data else None
    found = first.get("embedding") if isinstance(first, dict) else None
    if not isinstance(found, list):
        raise Failure(
            f"The provider answered without an embedding: {java_text(dict(answer))[:300]}"
        )
    return found
