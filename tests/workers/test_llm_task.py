"""Model tasks: what a provider is asked, what its answer means, what is said when it refuses."""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from engine.model.errors import InvalidInput
from engine.model.status import TaskStatus
from engine.settings import settings_from
from engine.workers.ai_task import Success, outcome_of
from engine.workers.egress import Egress
from engine.workers.functions import Outcome
from engine.workers.http_call import Caller
from engine.workers.llm_providers import Providers
from engine.workers.llm_task import Models
from tests.engine.builders import Bench, task, tasks_of, workflow
from tests.workers.web import Reply, Seen, Web, web

Json = dict[str, Any]

KEY = "key-of-the-provider"
USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
ASKED = {"llmProvider": "openai", "model": "m1"}
SCHEMA = {"type": "JSON", "data": {"type": "object", "required": ["city"]}}


def json_reply(value: Any, status: int = 200) -> Reply:
    return Reply(status, orjson.dumps(value), {"Content-Type": "application/json"})


def choice(text: str | None, reason: str = "stop", **message: Any) -> Json:
    return {"finish_reason": reason, "message": {"role": "assistant", "content": text, **message}}


def saying(*choices: Json) -> Reply:
    return json_reply({"id": "r1", "choices": list(choices), "usage": USAGE})


def wanted_call(call_id: str, name: str, arguments: str) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


class Provider:
    """A provider on loopback that gives its replies in turn, the last one for ever."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)

    def __call__(self, seen: Seen) -> Reply:
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


def models(url: str, provider: str = "openai", key: str | None = KEY, reach: Any = None) -> Models:
    caller = Caller(Egress(reach or "loopback-and-public", own_port=1), 1_000_000)
    secrets = {f"{provider.upper()}_API_KEY": key}
    providers = Providers({provider: url}, secrets.get, "CONDUCTOR_SECRET_")
    return Models(caller, providers)


def chat(reply: Reply, **given: Any) -> tuple[Outcome, Json]:
    """A chat task's outcome, and the body that the provider was sent."""
    with web(Provider(reply)) as server:
        outcome = outcome_of(lambda: models(f"{server.url}/v1").chat({**ASKED, **given}, "t1"))
        return outcome, orjson.loads(server.seen[0].body) if server.seen else {}


def output(outcome: Outcome) -> Json:
    found: Json = orjson.loads(outcome.output)
    return found


def body_for(provider: str, **given: Any) -> Json:
    with web(Provider(saying(choice("yes")))) as server:
        asked = {**ASKED, "llmProvider": provider, "userInput": "Hello", **given}
        models(server.url, provider).chat(asked, "t1")
        found: Json = orjson.loads(server.seen[0].body)
        return found


# What is asked


def test_a_chat_is_sent_with_its_instructions_and_its_key() -> None:
    with web(Provider(saying(choice("Good day.")))) as server:
        given = {
            **ASKED,
            "instructions": "Be polite.",
            "messages": [{"role": "user", "message": "Hello"}],
        }
        models(f"{server.url}/v1/").chat(given, "t1")
        seen = server.seen[0]
    assert (seen.method, seen.path) == ("POST", "/v1/chat/completions")
    assert seen.headers["Authorization"] == f"Bearer {KEY}"
    assert orjson.loads(seen.body) == {
        "model": "m1",
        "messages": [
            {"role": "system", "content": "Be polite."},
            {"role": "user", "content": "Hello"},
        ],
        "max_completion_tokens": 8192,
    }


def test_settings_of_the_model_are_sent_under_the_names_of_the_protocol() -> None:
    _, body = chat(
        saying(choice("yes")),
        userInput="Hello",
        temperature="0.5",
        topP=0.9,
        frequencyPenalty=1,
        presencePenalty=-1,
        stopWords=["END"],
        maxTokens="100",
        maxResults=2,
        reasoningEffort="HIGH",
    )
    del body["messages"], body["model"]
    assert body == {
        "temperature": 0.5,
        "top_p": 0.9,
        "frequency_penalty": 1,
        "presence_penalty": -1,
        "stop": ["END"],
        "max_completion_tokens": 100,
        "n": 2,
        "reasoning_effort": "high",
    }


def test_prompt_variables_are_filled_in_and_other_names_stay() -> None:
    _, body = chat(
        saying(choice("yes")),
        instructions="You help ${name}.",
        messages=[{"role": "user", "message": "${name} asks for ${other}: ${count}"}],
        promptVariables={"name": "Ada", "count": 3},
    )
    texts = [item["content"] for item in body["messages"]]
    assert texts == ["You help Ada.", "Ada asks for ${other}: 3"]


def test_the_users_input_counts_only_without_messages() -> None:
    _, alone = chat(saying(choice("yes")), userInput="Hello")
    said = [{"role": "user", "message": "Said"}]
    _, beside = chat(saying(choice("yes")), userInput="Hello", messages=said)
    assert [item["content"] for item in alone["messages"]] == ["Hello"]
    assert [item["content"] for item in beside["messages"]] == ["Said"]


def test_tools_and_their_earlier_calls_are_told() -> None:
    call = {"taskReferenceName": "c1", "name": "look_up", "inputParameters": {"id": 7}}
    _, body = chat(
        saying(choice("yes")),
        tools=[{"name": "look_up", "type": "SIMPLE", "inputSchema": {"type": "object"}}],
        messages=[
            {"role": "user", "message": "Where is 7?"},
            {"role": "tool_call", "toolCalls": [call]},
            {"role": "tool", "toolCalls": [{**call, "output": {"place": "here"}}]},
        ],
    )
    asked, answered = body["messages"][1:]
    assert asked["tool_calls"] == [wanted_call("c1", "look_up", '{"id":7}')]
    assert answered == {"role": "tool", "tool_call_id": "c1", "content": '{"place":"here"}'}
    assert body["tools"][0]["function"]["name"] == "look_up"
    assert body["tools"][0]["function"]["parameters"] == {"type": "object"}


def test_pictures_go_along_as_links_or_as_data() -> None:
    said = {"role": "user", "message": "What is this?", "mimeType": "image/jpeg"}
    _, body = chat(
        saying(choice("yes")), messages=[{**said, "media": ["https://example.com/a.png", "QUJD"]}]
    )
    parts = body["messages"][0]["content"]
    assert parts[0] == {"type": "text", "text": "What is this?"}
    assert [part["image_url"]["url"] for part in parts[1:]] == [
        "https://example.com/a.png",
        "data:image/jpeg;base64,QUJD",
    ]


def test_what_a_provider_cannot_be_told_is_said_in_the_log() -> None:
    outcome, body = chat(saying(choice("yes")), userInput="Hello", topK=5, webSearch=True)
    assert outcome.logs == ("not told to the provider: webSearch, topK",)
    assert "top_k" not in body


def test_each_provider_is_spoken_to_in_its_own_dialect() -> None:
    plain = body_for("my_server", topK=5, jsonOutput=False)
    assert (plain["max_tokens"], plain["top_k"]) == (8192, 5)
    assert "max_tokens" not in body_for("azure_openai")


def test_azure_gets_its_key_in_its_own_header_and_keeps_the_query() -> None:
    with web(Provider(saying(choice("yes")))) as server:
        asked = {**ASKED, "llmProvider": "azure_openai", "userInput": "Hello"}
        models(f"{server.url}/d?api-version=1", "azure_openai").chat(asked, "t1")
        seen = server.seen[0]
    assert seen.headers["api-key"] == KEY and "Authorization" not in seen.headers
    assert seen.path == "/d/chat/completions?api-version=1"


def test_a_text_completion_is_a_chat_with_the_prompt_as_instructions() -> None:
    with web(Provider(saying(choice("Four.")))) as server:
        given = {**ASKED, "prompt": "Two and ${n}?", "promptVariables": {"n": "two"}}
        found = models(server.url).text(given, "t1")
        body = orjson.loads(server.seen[0].body)
    assert found.output["result"] == "Four."
    assert body["messages"][0] == {"role": "system", "content": "Two and two?"}
    assert body["messages"][1]["role"] == "user"


def test_a_text_becomes_a_list_of_numbers() -> None:
    reply = json_reply({"data": [{"embedding": [0.5, -1.0, 2]}], "usage": USAGE})
    with web(Provider(reply)) as server:
        given = {**ASKED, "text": "some words", "dimensions": 3}
        found = models(server.url).embeddings(given)
        seen = server.seen[0]
    assert found.output == {"result": [0.5, -1.0, 2]}
    assert seen.path == "/embeddings"
    assert orjson.loads(seen.body) == {"model": "m1", "input": "some words", "dimensions": 3}


# What comes back


def test_an_answer_is_kept_with_its_reason_and_its_cost() -> None:
    outcome, _ = chat(saying(choice("Good day.", "length")), userInput="Hello")
    assert outcome.status is TaskStatus.COMPLETED
    assert output(outcome) == {
        "result": "Good day.",
        "finishReason": "LENGTH",
        "tokenUsed": 16,
        "promptTokens": 11,
        "completionTokens": 5,
        "responseId": "r1",
    }


def test_several_answers_are_a_list() -> None:
    outcome, _ = chat(saying(choice("a"), choice("b")), userInput="Hello", maxResults=2)
    assert output(outcome)["result"] == ["a", "b"]


def test_reasoning_and_its_tokens_are_kept() -> None:
    usage = {**USAGE, "completion_tokens_details": {"reasoning_tokens": 3}}
    said = choice("yes", reasoning_content="It must be so.")
    outcome, _ = chat(json_reply({"choices": [said], "usage": usage}), userInput="Hello")
    found = output(outcome)
    assert (found["reasoning"], found["reasoningTokens"]) == ("It must be so.", 3)


def test_wanted_tool_calls_are_ready_to_be_run() -> None:
    tools = [{"name": "look_up", "type": "CALL_MCP_TOOL", "integrationNames": {"mcp": "shop"}}]
    calls = [
        wanted_call("c1", "look_up", '{"id": 7, "filter": "{\\"open\\": true}"}'),
        wanted_call("c2", "unknown", "not json"),
    ]
    reply = saying(choice(None, "tool_calls", tool_calls=calls))
    outcome, _ = chat(reply, userInput="Hello", tools=tools, jsonOutput=True)
    found = output(outcome)
    assert found["finishReason"] == "TOOL_CALLS" and "result" not in found
    assert found["toolCalls"] == [
        {
            "taskReferenceName": "c1",
            "name": "look_up",
            "type": "CALL_MCP_TOOL",
            "inputParameters": {"id": 7, "filter": {"open": True}, "method": "look_up"},
            "integrationNames": {"mcp": "shop"},
        },
        {
            "taskReferenceName": "c2",
            "name": "unknown",
            "type": "SIMPLE",
            "inputParameters": {"method": "unknown"},
        },
    ]


@pytest.mark.parametrize("text", ['{"city": "Bonn"}', '```json\n{"city": "Bonn"}\n```'])
def test_json_is_asked_for_and_read(text: str) -> None:
    outcome, body = chat(saying(choice(text)), userInput="Where?", jsonOutput=True)
    assert output(outcome)["result"] == {"city": "Bonn"}
    assert body["response_format"] == {"type": "json_object"}
    assert "JSON" in body["messages"][0]["content"]


def test_without_the_wish_for_json_a_text_stays_a_text() -> None:
    outcome, body = chat(saying(choice('{"city": "Bonn"}')), userInput="Where?")
    assert output(outcome)["result"] == '{"city": "Bonn"}'
    assert "response_format" not in body


@pytest.mark.parametrize("text", ["Bonn, I think", '{"town": "Bonn"}'])
def test_an_answer_that_is_not_as_asked_may_be_tried_again_and_its_cost_is_known(text: str) -> None:
    outcome, _ = chat(
        saying(choice(text)), userInput="Where?", jsonOutput=True, outputSchema=SCHEMA
    )
    assert outcome.status is TaskStatus.FAILED
    assert str(outcome.reason).startswith("Task execution failed: The answer ")
    assert output(outcome)["tokenUsed"] == 16
    assert output(outcome)["result"] == text


def test_an_answer_that_fits_its_schema_is_taken() -> None:
    outcome, _ = chat(saying(choice('{"city": "Bonn"}')), userInput="Where?", outputSchema=SCHEMA)
    assert output(outcome)["result"] == {"city": "Bonn"}


# What fails


@pytest.mark.parametrize(
    ("status", "expected", "begins"),
    [
        (500, TaskStatus.FAILED, "Task execution failed: "),
        (429, TaskStatus.FAILED, "Task execution failed: "),
        (400, TaskStatus.FAILED_WITH_TERMINAL_ERROR, "Non-retryable error: "),
        (401, TaskStatus.FAILED_WITH_TERMINAL_ERROR, "Non-retryable error: "),
        (404, TaskStatus.FAILED_WITH_TERMINAL_ERROR, "Non-retryable error: "),
    ],
)
def test_a_refusal_is_final_unless_it_may_pass(
    status: int, expected: TaskStatus, begins: str
) -> None:
    reply = json_reply({"error": {"message": f"no, {KEY}"}}, status)
    outcome, _ = chat(reply, userInput="Hello")
    assert outcome.status is expected
    assert str(outcome.reason).startswith(f"{begins}openai answered {status} ")
    assert str(outcome.reason).endswith(": no, ***")


def test_a_refused_request_without_a_key_names_the_variable_of_the_key() -> None:
    with web(Provider(json_reply({"error": "who are you?"}, 401))) as server:
        given = {**ASKED, "userInput": "Hello"}
        outcome = outcome_of(lambda: models(server.url, key=None).chat(given, "t1"))
        assert "Authorization" not in server.seen[0].headers
    assert "CONDUCTOR_SECRET_OPENAI_API_KEY is not set" in str(outcome.reason)


def test_a_provider_without_an_address_names_the_variables_to_set() -> None:
    given = {**ASKED, "llmProvider": "mistral", "userInput": "Hello"}
    outcome = outcome_of(lambda: models("http://127.0.0.1:9").chat(given, "t1"))
    assert outcome.status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert outcome.reason == (
        "Non-retryable error: llmProvider is 'mistral', for which this engine has no address: set "
        "REPRISE_LLM_MISTRAL_URL (usually https://api.mistral.ai/v1), and "
        "CONDUCTOR_SECRET_MISTRAL_API_KEY if it asks for a key."
    )


def test_an_address_that_may_not_be_called_is_a_final_failure() -> None:
    with web(Provider(saying(choice("yes")))) as server:
        outside = models(server.url, reach="public-only")
        outcome = outcome_of(lambda: outside.chat({**ASKED, "userInput": "Hello"}, "t1"))
        assert server.seen == []
    assert outcome.status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert "egress policy" in str(outcome.reason)


def test_a_provider_that_cannot_be_reached_may_be_tried_again() -> None:
    with web(Provider(saying(choice("yes")))) as server:
        url = server.url
    outcome = outcome_of(lambda: models(url).chat({**ASKED, "userInput": "Hello"}, "t1"))
    assert outcome.status is TaskStatus.FAILED
    assert str(outcome.reason).startswith("Task execution failed: I/O error on POST request")


@pytest.mark.parametrize(
    "reply",
    [Reply(200, b"<html>"), json_reply({"choices": []}), json_reply({"choices": ["text"]})],
)
def test_an_answer_of_another_protocol_may_be_tried_again(reply: Reply) -> None:
    outcome, _ = chat(reply, userInput="Hello")
    assert outcome.status is TaskStatus.FAILED
    assert str(outcome.reason).startswith("Task execution failed: ")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"model": ""}, "model"),
        ({"llmProvider": None}, "llmProvider"),
        ({"userInput": None}, "userInput"),
        ({"temperature": "warm"}, "temperature"),
        ({"maxTokens": 0}, "maxTokens"),
        ({"messages": "Hello"}, "messages"),
        ({"messages": [{"role": "robot", "message": "Hello"}]}, "'robot'"),
        ({"tools": [{"description": "without a name"}]}, "tools"),
        ({"promptVariables": ["a"]}, "promptVariables"),
    ],
)
def test_an_input_that_cannot_be_sent_is_a_final_failure_that_names_it(
    given: Json, named: str
) -> None:
    outcome, body = chat(saying(choice("yes")), **{"userInput": "Hello", **given})
    assert outcome.status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert named in str(outcome.reason) and body == {}


def test_an_empty_text_has_no_embedding() -> None:
    def work() -> Success:
        return models("http://127.0.0.1:9").embeddings({**ASKED, "text": "  "})

    outcome = outcome_of(work)
    assert outcome.status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert outcome.reason == "Non-retryable error: No input text provided to generate embeddings"


# In an engine


def test_addresses_of_providers_are_read_from_the_environment() -> None:
    name = "REPRISE_LLM_AZURE_OPENAI_URL"
    assert settings_from({name: "https://example.com/v1"}).llm_urls == {
        "azure_openai": "https://example.com/v1"
    }
    with pytest.raises(InvalidInput, match=f"must begin with http.*Correct {name}"):
        settings_from({name: "example.com"})


def bench(server: Web, provider: str = "openai") -> Bench:
    return Bench(llm_urls={provider: server.url}, evaluators=1)


def llm(name: str, **given: Any) -> Json:
    return task(name, "LLM_CHAT_COMPLETE", inputParameters={**ASKED, **given})


def messages_of(server: Web) -> list[list[tuple[str, Any]]]:
    """What was said in each request: role and content."""
    bodies = [orjson.loads(seen.body) for seen in server.seen]
    return [[(m["role"], m["content"]) for m in body["messages"]] for body in bodies]


def loop(*tasks: Json, rounds: int) -> Json:
    condition = f"$.loop.iteration < {rounds}"
    return task("loop", "DO_WHILE", loopCondition=condition, loopOver=list(tasks))


def test_an_engine_with_a_provider_carries_out_model_tasks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONDUCTOR_SECRET_OPENAI_API_KEY", KEY)
    with web(Provider(saying(choice("Good day.")))) as server, bench(server) as b:
        b.define(workflow("greeting", llm("say", userInput="${workflow.input.text}")))
        done = b.run("greeting", text="Hello")
        assert server.seen[0].headers["Authorization"] == f"Bearer {KEY}"
    assert done["status"] == "COMPLETED"
    assert tasks_of(done)["say"]["outputData"]["result"] == "Good day."
    assert KEY not in orjson.dumps(done).decode()


def test_a_loop_goes_on_with_its_own_earlier_answers() -> None:
    replies = [saying(choice(text)) for text in ("one", "two", "three")]
    with web(Provider(*replies)) as server, bench(server) as b:
        b.define(workflow("counting", loop(llm("say", userInput="Count."), rounds=3)))
        done = b.run("counting")
        said = messages_of(server)
    assert done["status"] == "COMPLETED"
    asked = ("user", "Count.")
    assert said == [
        [asked],
        [asked, ("assistant", "one")],
        [asked, ("assistant", "one"), ("assistant", "two")],
    ]
    assert tasks_of(done)["say__2"]["inputData"]["messages"] == [
        {"role": "user", "message": "Count."},
        {"role": "assistant", "message": "one"},
    ]


@pytest.mark.parametrize(
    ("provider", "given"), [("anthropic", {}), ("openai", {"previousResponseId": "r0"})]
)
def test_earlier_answers_stay_out_where_they_are_not_wanted(provider: str, given: Json) -> None:
    with web(Provider(saying(choice("one")))) as server, bench(server, provider) as b:
        say = llm("say", llmProvider=provider, userInput="Count.", **given)
        b.define(workflow("counting", loop(say, rounds=2)))
        assert b.run("counting")["status"] == "COMPLETED"
        assert messages_of(server) == [[("user", "Count.")]] * 2


def test_participants_speak_in_the_role_they_are_given() -> None:
    with web(Provider(saying(choice("Then do it.")))) as server, bench(server) as b:
        note = task("note", "INLINE", inputParameters={"evaluatorType": "javascript"})
        note["inputParameters"]["expression"] = "'It rains.'"
        b.define(
            workflow("talk", note, llm("say", userInput="And now?", participants={"note": "user"}))
        )
        assert b.run("talk")["status"] == "COMPLETED"
        assert messages_of(server) == [[("user", "And now?"), ("user", "It rains.")]]


def test_a_loop_remembers_the_tools_that_were_run_for_it() -> None:
    calls = [wanted_call("look_up", "look_up", '{"id": 7}')]
    replies: Sequence[Reply] = [
        saying(choice(None, "tool_calls", tool_calls=calls)),
        saying(choice("It is here.")),
    ]
    with web(Provider(*replies)) as server, bench(server, "anthropic") as b:
        say = llm("say", llmProvider="anthropic", userInput="Where is 7?")
        tool = task("look_up", "INLINE", inputParameters={"evaluatorType": "javascript"})
        tool["inputParameters"]["expression"] = "'shelf 3'"
        b.define(workflow("agent", loop(say, tool, rounds=2)))
        assert b.run("agent")["status"] == "COMPLETED"
        second = orjson.loads(server.seen[1].body)["messages"]
    assert second[1]["tool_calls"] == [wanted_call("look_up", "look_up", '{"id":7}')]
    assert second[2] == {
        "role": "tool",
        "tool_call_id": "look_up",
        "content": '{"result":"shelf 3"}',
    }


def test_without_a_provider_model_tasks_wait_for_a_worker_from_outside() -> None:
    with Bench(evaluators=1) as b:
        names = {name for name, _ in b.engine.workers.names()}
        b.define(workflow("greeting", llm("say", userInput="Hello")))
        b.start("greeting")
        (polled,) = b.engine.tasks.poll("LLM_CHAT_COMPLETE", timeout_ms=5000)
    assert not {name for name in names if name.startswith("LLM_") or "MCP" in name}
    assert polled["inputData"]["userInput"] == "Hello"
