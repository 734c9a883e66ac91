"""Scripts as they really run, in children. Hostile ones get short limits, to keep the suite quick."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engine.expressions.scripts import Language, ScriptAnswer, ScriptJob, case_text, is_true
from engine.instruments.telemetry import Telemetry
from engine.workers.evaluators import EvaluatorPool
from engine.workers.script_limits import Limits
from tests.vectors import by_id, exact, rows

ENDLESS = "while(true){}"
KINDS = {
    "time limit": r"^Script not evaluated within \S+ seconds, interrupted\.$",
    "syntax": r"SyntaxError",
    "type": r"TypeError",
    "reference": r"ReferenceError",
    "thrown": r"^Error evaluating the script `",
    "refused": r"SyntaxError",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[EvaluatorPool]:
    pool = EvaluatorPool(2, Limits(seconds=1.0))
    yield pool
    pool.close()


def a_job(
    source: str, inputs: Any = None, language: Language = Language.JAVASCRIPT, **more: Any
) -> ScriptJob:
    return ScriptJob(language, source, {} if inputs is None else inputs, **more)


def evaluate(pool: EvaluatorPool, source: str, inputs: Any = None, **more: Any) -> ScriptAnswer:
    return pool.evaluate(a_job(source, inputs, **more))


def fails_as(answer: ScriptAnswer, kind: str) -> bool:
    return answer.error is not None and bool(re.search(KINDS.get(kind, kind), answer.error, re.S))


def assert_serves(pool: EvaluatorPool) -> None:
    assert evaluate(pool, "6 * 7") == ScriptAnswer(value=42)


# -- as on a real server ---------------------------------------------------------------


@pytest.mark.parametrize("row", rows("scripts"), ids=by_id)
def test_a_script_answers_as_on_a_real_server(pool: EvaluatorPool, row: dict[str, Any]) -> None:
    answer = evaluate(pool, row["source"], row["inputs"], language=Language(row["language"]))
    if "error" in row:
        assert fails_as(answer, row["error"])
    else:
        assert answer.error is None and exact(answer.value) == exact(row["value"])


@pytest.mark.parametrize("row", rows("switch_keys"), ids=by_id)
def test_a_switch_finds_its_case_as_on_a_real_server(
    pool: EvaluatorPool, row: dict[str, Any]
) -> None:
    checking = row.get("error") == "refused"
    answer = evaluate(pool, row["source"], row["inputs"], check_only=checking)
    if "error" in row:
        assert fails_as(answer, row["error"])
    else:
        assert answer.error is None and case_text(answer) == row["key"]


@pytest.mark.parametrize("row", rows("conditions"), ids=by_id)
def test_a_condition_is_true_as_on_a_real_server(pool: EvaluatorPool, row: dict[str, Any]) -> None:
    answer = evaluate(pool, row["source"], row["inputs"])
    if "error" in row:
        assert fails_as(answer, row["error"])
    else:
        assert answer.error is None and is_true(answer) is row["true"]


# -- what a script sees ------------------------------------------------------------------


def test_the_line_of_an_engine_error_is_told_and_that_of_a_thrown_one_not(
    pool: EvaluatorPool,
) -> None:
    assert (evaluate(pool, "1;\n\nnull.x").error or "").endswith("` at line 3")
    assert evaluate(pool, "\nthrow new Error('boom')").error == (
        "Error evaluating the script `Error: boom`"
    )


def test_encoded_input_is_passed_on_as_it_is(pool: EvaluatorPool) -> None:
    assert evaluate(pool, "$.a", b'{"a": "\xc3\xa9"}').value == "é"
    assert evaluate(pool, ".a", b'{"a": 9007199254740993}', language=Language.JQ).value == [
        9007199254740993
    ]


def test_console_lines_come_with_the_answer_also_when_the_script_fails(pool: EvaluatorPool) -> None:
    good = evaluate(pool, "console.log('a', 1, {b: [2]}); console.warn('w'); 5")
    assert good.value == 5 and good.logs == ('a 1 {"b":[2]}', "w")
    bad = evaluate(pool, "console.error('before'); null.x")
    assert bad.error is not None and bad.logs == ("before",)


def test_a_flood_of_console_lines_is_cut(pool: EvaluatorPool) -> None:
    answer = evaluate(pool, "for (let i = 0; i < 1e5; i++) console.log('line ' + i); 1")
    assert answer.value == 1
    assert sum(map(len, answer.logs)) < 70_000 and "dropped" in answer.logs[-1]


def test_chance_and_clock_belong_to_the_job(pool: EvaluatorPool) -> None:
    script = (
        "[Math.random(), Math.random(), Date.now(), new Date().toISOString(), Date().length > 9]"
    )
    first, again, other = (
        evaluate(pool, script, seed=seed, now_ms=86_400_000).value for seed in (7, 7, 8)
    )
    assert first == again and first[:2] != other[:2]
    assert first[2:] == [86_400_000, "1970-01-02T00:00:00.000Z", True]


def test_dates_are_dates_in_every_other_respect(pool: EvaluatorPool) -> None:
    script = """[new Date(2020, 0, 2).getTime(), Date.UTC(2020, 0, 2), Date.parse('2020-01-02'),
        new Date(5) instanceof Date, new Date().constructor === Date, Date.name]"""
    moment = 1_577_923_200_000
    assert evaluate(pool, script).value == [moment, moment, moment, True, True, "Date"]


def test_nothing_of_one_script_reaches_the_next(pool: EvaluatorPool) -> None:
    evaluate(pool, "globalThis.left = 1; Array.prototype.map = null; JSON.stringify = null; 1")
    assert evaluate(pool, "typeof left + [1].map(x => x + 1)").value == "undefined2"


def test_a_script_that_breaks_the_builtins_still_gets_its_answer_out(pool: EvaluatorPool) -> None:
    script = "JSON.stringify = null; Array.isArray = null; Object.keys = () => []; ({a: [1]})"
    assert evaluate(pool, script).value == {"a": [1]}


def test_values_that_json_cannot_hold_become_null_and_a_log_line(pool: EvaluatorPool) -> None:
    top = evaluate(pool, "0 / 0")
    assert top.value is None and top.not_finite == "NaN" and "NaN" in top.logs[0]
    inner = evaluate(pool, "[1, 1 / 0]")
    assert inner.value == [1, None] and "Infinity" in inner.logs[0] and inner.not_finite is None


def test_half_a_surrogate_pair_cannot_leave(pool: EvaluatorPool) -> None:
    assert evaluate(pool, "({['k\\ud800']: 'v\\udfff'})").value == {"k\ufffd": "v\ufffd"}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("let a = {}; a.a = a; a", "contains itself"),
        ("new Map([[null, 1]])", "null key"),
        ("let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a", "deeper than 250"),
        ("({get x() { throw new TypeError('in a getter') }})", "in a getter"),
    ],
)
def test_a_result_that_is_no_json_is_a_script_error(
    pool: EvaluatorPool, source: str, reason: str
) -> None:
    answer = evaluate(pool, source)
    assert reason in (answer.error or "") and not answer.retriable
    assert (answer.error or "").startswith("Error evaluating the script `")


def test_the_same_object_twice_is_no_circle(pool: EvaluatorPool) -> None:
    assert evaluate(pool, "let a = {x: 1}; [a, a]").value == [{"x": 1}, {"x": 1}]


@pytest.mark.parametrize(
    ("language", "good", "bad"),
    [
        (Language.JAVASCRIPT, ENDLESS, "let a = 1; let a = 2"),
        (Language.LAMBDA, "return 1 // c", "return }"),
        (Language.JQ, "def f: f; f", ".["),
    ],
)
def test_a_script_can_be_checked_without_running(
    pool: EvaluatorPool, language: Language, good: str, bad: str
) -> None:
    assert evaluate(pool, good, language=language, check_only=True) == ScriptAnswer()
    assert evaluate(pool, bad, language=language, check_only=True).error


# -- what jq sees --------------------------------------------------------------------------


def test_jq_sees_no_environment_and_no_files(pool: EvaluatorPool) -> None:
    assert evaluate(pool, "env, $ENV", language=Language.JQ).value == [{}, {}]
    assert evaluate(pool, 'import "a" as a; 1', language=Language.JQ).error


def test_an_unknown_jq_function_is_named(pool: EvaluatorPool) -> None:
    assert "nope/0 is not defined" in (evaluate(pool, "nope", language=Language.JQ).error or "")


# -- Python --------------------------------------------------------------------------------


def test_python_is_refused_unless_the_operator_allows_it(pool: EvaluatorPool) -> None:
    answer = evaluate(pool, "return 1", language=Language.PYTHON)
    assert "operator can allow" in (answer.error or "")


def test_allowed_python_sees_its_inputs_and_answers_json() -> None:
    pool = EvaluatorPool(1, Limits(seconds=1.0), allow_python=True)
    try:
        script = "print('hi')\nn += 1\nreturn {'n': n, 'l': (x for x in [1]), 'nan': float('nan')}"
        assert "TypeError" in (
            evaluate(pool, script, {"n": 1}, language=Language.PYTHON).error or ""
        )
        fine = evaluate(
            pool,
            "print('hi')\nn += 1\nreturn {'n': n, 'l': (1, 2), 'nan': float('nan')}",
            {"n": 1, "not a name": 2},
            language=Language.PYTHON,
        )
        assert fine.value == {"n": 2, "l": [1, 2], "nan": None}
        assert fine.logs[0] == "hi" and "nan" in fine.logs[1]
        error = evaluate(pool, "x = 1\nreturn x.y", language=Language.PYTHON).error or ""
        assert "AttributeError" in error and error.endswith("at line 2")
        gone = evaluate(pool, "import os\nos._exit(3)", language=Language.PYTHON)
        assert "exit code 3" in (gone.error or "")
        forked = evaluate(pool, "import os\nreturn os.fork() > 0", language=Language.PYTHON)
        assert forked.value is True
        endless = evaluate(pool, "while True: pass", language=Language.PYTHON)
        assert fails_as(endless, "time limit") and endless.retriable
        assert evaluate(pool, "return n", {"n": 5}, language=Language.PYTHON).value == 5
    finally:
        pool.close()


# -- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "source", "reason"),
    [
        (Language.JAVASCRIPT, ENDLESS, KINDS["time limit"]),
        (
            Language.JAVASCRIPT,
            "for(;;){try{for(;;){}}catch(e){}finally{continue}}",
            KINDS["time limit"],
        ),
        (Language.JAVASCRIPT, "/(a+)+$/.test('a'.repeat(40) + 'b')", KINDS["time limit"]),
        (
            Language.JAVASCRIPT,
            "var a = []; while (true) a.push(new Array(1000).fill(1))",
            "MB of memory",
        ),
        (Language.JAVASCRIPT, "'x'.repeat(2 ** 29)", "MB of memory"),
        (Language.JAVASCRIPT, "new ArrayBuffer(2 ** 30)", "MB of memory"),
        (Language.JAVASCRIPT, "(function f() { return f() + 1 })()", "RangeError"),
        (Language.JAVASCRIPT, "'x'.repeat(5e6)", "the result is larger than 4194304"),
        (
            Language.JAVASCRIPT,
            "new Array(4e5).fill('123456789')",
            "the result is larger than 4194304",
        ),
        (Language.JQ, "def f: f; f", KINDS["time limit"]),
        (Language.JQ, "[limit(1e12; repeat(1))] | length", "memory|" + KINDS["time limit"]),
        (Language.JQ, "def f: [f, 1]; f", "memory|" + KINDS["time limit"]),
        (Language.JQ, '"x" * 5000000', "the result is larger than 4194304"),
        (Language.JQ, "range(1e9)", "the result is larger than 4194304"),
    ],
)
def test_a_hostile_script_gets_a_reason_and_the_next_one_works(
    pool: EvaluatorPool, language: Language, source: str, reason: str
) -> None:
    answer = evaluate(pool, source, language=language)
    assert answer.value is None and re.search(reason, answer.error or "")
    assert_serves(pool)


def test_a_jq_program_that_eats_all_memory_ends_its_child_and_says_so() -> None:
    pool = EvaluatorPool(1, Limits(seconds=60.0, process_bytes=160 * 2**20))
    try:
        answer = evaluate(pool, "[range(1e9)] | length", language=Language.JQ)
        assert "needed too much memory" in (answer.error or "") and not answer.retriable
        assert_serves(pool)
    finally:
        pool.close()


def test_a_child_killed_amid_a_job_costs_that_job_only() -> None:
    pool = EvaluatorPool(1, Limits(seconds=30.0))
    try:
        assert_serves(pool)
        with ThreadPoolExecutor(1) as threads:
            (pid,) = pool.children()
            pending = threads.submit(evaluate, pool, ENDLESS)
            while not pending.running() or cpu_ticks(pid) < 20:
                os.sched_yield()
            os.kill(pid, signal.SIGKILL)
            answer = pending.result(timeout=20)
        assert "SIGKILL" in (answer.error or "") and answer.retriable
        assert_serves(pool)
        assert len(pool.children()) == 1 and pool.children() != [pid]
    finally:
        pool.close()


def cpu_ticks(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return int(stat.read().rpartition(")")[2].split()[11])


def test_a_child_killed_while_idle_is_replaced_before_the_next_job() -> None:
    pool = EvaluatorPool(1)
    try:
        assert_serves(pool)
        (pid,) = pool.children()
        os.kill(pid, signal.SIGKILL)
        while pool.children():
            os.sched_yield()
        assert_serves(pool)
        assert pool.children() != [pid]
    finally:
        pool.close()


def test_a_stopped_child_is_killed_at_the_limit() -> None:
    told: list[str] = []
    telemetry = Telemetry()
    telemetry.listen(lambda what, facts: told.append(what))
    pool = EvaluatorPool(1, Limits(seconds=0.2), telemetry=telemetry)
    try:
        assert_serves(pool)
        assert told == []
        os.kill(pool.children()[0], signal.SIGSTOP)
        big = {"text": "x" * 1_000_000}
        assert fails_as(evaluate(pool, "1", big), "time limit")
        assert_serves(pool)
        assert told == ["evaluator.killed"]
    finally:
        pool.close()


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (a_job("1" * 300_000), "a script may have 262144 characters"),
        (a_job("1", {"x": "y" * 2000}), "may have 1000 bytes of JSON"),
        (a_job("1", {"x": {1, 2}}), "not JSON"),
        (a_job("1", b"{"), "SyntaxError"),
    ],
)
def test_a_job_that_cannot_be_sent_says_why(job: ScriptJob, reason: str) -> None:
    pool = EvaluatorPool(1, Limits(input_bytes=1000))
    try:
        assert reason in (pool.evaluate(job).error or "")
        assert_serves(pool)
    finally:
        pool.close()


# -- the pool -----------------------------------------------------------------------------------


def test_script_engines_are_not_even_loaded_beside_the_pool() -> None:
    look = "import engine.workers.evaluators, sys; print({'jq', 'quickjs'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"


def test_no_child_is_started_before_the_first_job() -> None:
    pool = EvaluatorPool(2)
    try:
        assert pool.children() == []
        assert_serves(pool)
        assert len(pool.children()) == 1
    finally:
        pool.close()


def test_many_threads_share_the_children_and_each_gets_its_own_answer() -> None:
    pool = EvaluatorPool(2)
    try:
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda n: evaluate(pool, "$.n * 2", {"n": n}), range(200)))
        assert [answer.value for answer in answers] == [n * 2 for n in range(200)]
        assert len(pool.children()) <= 2
    finally:
        pool.close()


def test_closing_ends_the_children_and_answers_the_jobs_they_had() -> None:
    pool = EvaluatorPool(1, Limits(seconds=30.0))
    assert_serves(pool)
    (pid,) = pool.children()
    answers: list[ScriptAnswer] = []
    waiting = [
        threading.Thread(target=lambda: answers.append(evaluate(pool, ENDLESS))) for _ in range(3)
    ]
    for thread in waiting:
        thread.start()
    while cpu_ticks(pid) < 20:
        os.sched_yield()
    started = time.monotonic()
    pool.close()
    for thread in waiting:
        thread.join(20)
    assert time.monotonic() - started < 10 and pool.children() == []
    assert [answer.error for answer in answers] == [
        "The evaluators are closed, the engine is stopping"
    ] * 3
    pool.close()
    assert evaluate(pool, "1").error == "The evaluators are closed, the engine is stopping"


def test_a_pool_without_processes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        EvaluatorPool(0)
