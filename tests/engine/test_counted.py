"""What happens far from the core is counted by the engine that it happens in."""

import os
import signal
from typing import Any

import orjson
import pytest

from tests.engine.builders import Bench, task, workflow
from tests.workers.test_evaluators import cpu_ticks
from tests.workers.web import Reply, web

JSON = {"Content-Type": "application/json"}
QUICK = {"evaluatorType": "graaljs", "expression": "1"}
ENDLESS = {"evaluatorType": "graaljs", "expression": "while (true) {}"}


def test_tokens_are_counted_by_model_and_kind_even_of_an_answer_that_is_no_use() -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    answers = [{"choices": [{"message": {"content": "Yes."}}], "usage": usage}, {"usage": usage}]

    def answer(seen: Any) -> Reply:
        return Reply(200, orjson.dumps(answers.pop(0)), JSON)

    given = {"llmProvider": "openai", "model": "m1", "userInput": "Well?"}
    with web(answer) as server, Bench(llm_urls={"openai": server.url}) as bench:
        bench.define_tasks({"name": "ask", "retryCount": 0})
        bench.define(workflow("w", task("ask", "LLM_CHAT_COMPLETE", inputParameters=given)))
        ends = [bench.run("w")["status"] for _ in range(2)]
        shown = bench.engine.metrics.render()
    assert ends == ["COMPLETED", "FAILED"]
    assert 'tokens_total{model="m1",kind="prompt"} 22\n' in shown
    assert 'tokens_total{model="m1",kind="completion"} 10\n' in shown


def test_calls_that_the_policy_denies_are_counted() -> None:
    request = {"http_request": {"uri": "http://10.0.0.1/", "method": "GET"}}
    with Bench() as bench:
        bench.define(workflow("w", task("call", "HTTP", inputParameters=request)))
        bench.run("w")
        shown = bench.engine.metrics.render()
    assert "egress_denied_total 1\n" in shown


def test_a_process_that_is_ended_amid_its_script_is_counted() -> None:
    with Bench(evaluators=1) as bench:
        bench.define_tasks({"name": "endless", "retryCount": 0})
        bench.define(workflow("quick", task("quick", "INLINE", inputParameters=QUICK)))
        bench.define(workflow("w", task("endless", "INLINE", inputParameters=ENDLESS)))
        bench.run("quick")
        (pid,) = bench.engine.evaluators.children()
        before = cpu_ticks(pid)
        pending = bench.start("w")
        while cpu_ticks(pid) < before + 5:
            os.sched_yield()
        os.kill(pid, signal.SIGKILL)
        assert bench.ended(pending)["status"] == "FAILED"
        shown = bench.engine.metrics.render()
    assert "evaluator_killed_total 1\n" in shown


def test_a_secret_that_comes_back_is_masked_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDUCTOR_SECRET_TOKEN", "whisper-this-softly")
    given = {"key": "${workflow.secrets.TOKEN}"}
    with Bench() as bench:
        bench.define(
            workflow("w", task("tell", inputParameters=given), task("hush", inputParameters=given))
        )
        bench.engine.employ({"tell": lambda key: {"told": key}, "hush": lambda key: {}})
        bench.run("w")
        shown = bench.engine.metrics.render()
    assert "redaction_hits_total 1\n" in shown
