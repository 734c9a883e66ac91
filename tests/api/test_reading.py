"""How leniently requests are read, and how exactly answers are written."""

import gzip

import pytest

from tests.api.door import Door, wait

START = {"content-type": "application/json"}


def test_empty_query_values_count_as_absent(door: Door) -> None:
    door.define("empties")
    answer = door.ask("POST", "workflow/empties?version=&priority=&correlationId=", json={})
    assert answer.status_code == 200
    found = door.get("workflow/search?queryId=&start=&size=&freeText=&query=")
    assert {"totalHits", "results"} == set(found)


@pytest.mark.parametrize("word", ["True", "true", "1", "on", "YES"])
def test_yes_may_be_written_in_many_ways(door: Door, word: str) -> None:
    door.define("flagged")
    body = door.get("metadata/workflow/flagged")
    assert door.ask("POST", f"metadata/workflow?overwrite={word}", json=body).status_code == 200


def test_a_word_that_is_neither_yes_nor_no_is_refused(door: Door) -> None:
    workflow_id = door.start(door.define("maybe"))
    message = door.refused(400, "GET", f"workflow/{workflow_id}?includeTasks=maybe")
    assert message == "includeTasks is 'maybe': write true or false."


def test_unknown_parameters_and_fields_are_ignored(door: Door) -> None:
    door.define("strays")
    body = {"name": "strays", "enforce_schema": 1, "priority": None, "workflowDef": None}
    assert door.post("workflow?skipCache=1&summarize=x", body).text


@pytest.mark.parametrize("version", ["1", 1.0, 1.7])
def test_a_version_may_be_text_or_a_fraction(door: Door, version: object) -> None:
    door.define("versions")
    assert door.post("workflow", {"name": "versions", "version": version}).text


def test_a_verb_takes_any_body_or_none(door: Door) -> None:
    workflow_id = door.start(door.define("bodies"))
    place = f"workflow/{workflow_id}"
    assert door.ask("PUT", f"{place}/pause", content=b"garbage").status_code == 200
    assert door.ask("PUT", f"{place}/resume", headers=START).status_code == 200
    assert door.ask("DELETE", place, json={}).status_code == 200


def test_a_missing_body_stands_for_an_empty_map(door: Door) -> None:
    door.define("bare", wait("gate"))
    workflow_id = door.ask("POST", "workflow/bare").text
    assert door.execution(workflow_id)["input"] == {}
    assert door.ask("POST", f"tasks/{workflow_id}/gate/COMPLETED").status_code == 200
    door.good(door.ask("POST", f"workflow/{workflow_id}/rerun"))
    door.good(door.ask("DELETE", f"workflow/{workflow_id}"))
    assert door.execution(workflow_id)["status"] == "TERMINATED"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "Required request body is missing"),
        (b"[]", "The body is a list: send a JSON object."),
        (b'{"name": ', "JSON parse error"),
        (b'{"name": "x", "input": {"a": NaN}}', "JSON parse error"),
        (b'{"name": "x"} more', "JSON parse error"),
        (b'{"name": "\xff"}', "JSON parse error"),
        (b'{"name": "x", "version": "one"}', "valid integer"),
        (b'{"name": "x", "input": "text"}', "valid dictionary"),
        (b'{"name": "x", "idempotencyStrategy": "SOMETIMES"}', "RETURN_EXISTING"),
        (b'{"name": "x", "input": ' + b'{"a":' * 1500 + b"1" + b"}" * 1501, "JSON parse error"),
    ],
)
def test_a_start_that_cannot_be_read_is_bad_input(door: Door, content: bytes, words: str) -> None:
    assert words in door.refused(400, "POST", "workflow", content=content, headers=START)


def test_a_byte_order_mark_and_doubled_keys_are_no_obstacle(door: Door) -> None:
    door.define("marked")
    content = b'\xef\xbb\xbf{"name": "other", "name": "marked"}'
    assert door.ask("POST", "workflow", content=content, headers=START).status_code == 200


def test_long_numbers_and_deep_values_come_back_as_they_were_sent(door: Door) -> None:
    door.define("exact", wait("gate"))
    number = "123456789012345678901234567890"
    deep = "[" * 700 + "]" * 700
    content = f'{{"name": "exact", "input": {{"n": {number}, "deep": {deep}}}}}'.encode()
    workflow_id = door.ask("POST", "workflow", content=content, headers=START).text
    text = door.ask("GET", f"workflow/{workflow_id}").text
    assert number in text and deep in text


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_that_is_not_declared_as_json_is_refused(door: Door, kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    message = door.refused(400, "POST", "workflow", content=b"{}", headers=headers)
    assert "send application/json" in message


def test_a_body_above_the_limit_is_too_large(door: Door) -> None:
    content = b" " * (33 * 1024 * 1024)
    assert "Store large data elsewhere" in door.refused(413, "POST", "workflow", content=content)


def test_an_input_above_its_limit_is_too_large(door: Door) -> None:
    door.define("heavy")
    body = {"name": "heavy", "input": {"x": "x" * (11 * 1024 * 1024)}}
    assert "permissible limit: 10485760" in door.refused(413, "POST", "workflow", json=body)


def test_an_id_is_plain_text_whatever_is_accepted(door: Door) -> None:
    door.define("plain")
    headers = {"accept": "application/xml"}
    answer = door.ask("POST", "workflow", json={"name": "plain"}, headers=headers)
    assert answer.headers["content-type"] == "text/plain;charset=UTF-8"
    assert '"' not in answer.text and answer.text.count("-") == 4


def test_a_void_answer_has_no_body_and_no_type(door: Door) -> None:
    workflow_id = door.start(door.define("void"))
    answer = door.ask("PUT", f"workflow/{workflow_id}/pause")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == "0"
    assert "content-type" not in answer.headers


def test_json_has_a_type_without_a_charset(door: Door) -> None:
    assert door.ask("GET", "workflow/search").headers["content-type"] == "application/json"


def test_nulls_of_records_are_left_out_and_those_of_maps_are_kept(door: Door) -> None:
    workflow_id = door.start(door.define("nulls", wait("gate")), input={"a": None})
    shown = door.execution(workflow_id)
    assert shown["input"] == {"a": None}
    assert "correlationId" not in shown and shown["priority"] == 0


def test_an_execution_names_its_owner_also_when_there_is_none(door: Door) -> None:
    workflow_id = door.start(door.define("ownerless"))
    assert door.execution(workflow_id)["ownerApp"] == ""


def test_a_large_answer_is_compressed_for_those_who_take_it(door: Door) -> None:
    workflow_id = door.start(door.define("large", wait("gate")), input={"x": "y" * 40_000})

    async def asked(accepts: str) -> tuple[dict[str, str], bytes]:
        sent: list[dict[str, object]] = []

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/api/workflow/{workflow_id}",
            "query_string": b"",
            "headers": [(b"accept-encoding", accepts.encode())],
        }
        await door.app(scope, receive, send)
        raw = sent[0]["headers"]
        assert isinstance(raw, list) and isinstance(sent[1]["body"], bytes)
        return {name.decode(): value.decode() for name, value in raw}, sent[1]["body"]

    headers, body = door.run(asked("gzip, deflate"))
    assert headers["content-encoding"] == "gzip"
    headers, plain = door.run(asked("identity"))
    assert "content-encoding" not in headers
    assert gzip.decompress(body) == plain


def test_a_name_with_odd_characters_is_addressed_by_its_encoding(door: Door) -> None:
    door.define("ü:a .%25?;x", wait("gate"))
    place = "metadata/workflow/%C3%BC%3Aa%20.%2525%3F%3Bx"
    assert door.get(place)["name"] == "ü:a .%25?;x"


def test_an_unknown_path_is_not_found(door: Door) -> None:
    assert door.refused(404, "GET", "nope") == "No static resource api/nope."
    assert door.refused(404, "GET", "/elsewhere") == "No static resource elsewhere."
    assert door.refused(404, "POST", "token", json={}) == "No static resource api/token."
    assert (
        door.refused(404, "GET", "workflow/search/") == "No static resource api/workflow/search/."
    )


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "tasks"), ("PATCH", "workflow"), ("PUT", "tasks/update-v2"), ("GET", "workflow")],
)
def test_a_wrong_method_is_told_apart_from_an_unknown_path(
    door: Door, method: str, path: str
) -> None:
    message = door.refused(405, method, path)
    assert message == f"Request method '{method}' is not supported"


def test_features_that_are_absent_are_simply_not_found(door: Door) -> None:
    for path in ("agent/list", "files", "providers", "skills", "human/tasks/search", "users"):
        door.refused(404, "GET", path)


def test_a_strange_page_may_change_nothing(door: Door) -> None:
    workflow_id = door.start(door.define("pages", wait("gate")))
    place, strange = f"workflow/{workflow_id}", {"origin": "http://evil.example"}
    door.refused(403, "DELETE", place, headers=strange)
    assert door.ask("GET", place, headers=strange).json()["status"] == "RUNNING"
    assert door.ask("DELETE", place, headers={"origin": "http://engine"}).status_code == 200


def test_what_is_allowed_is_told_for_all_that_is_at_a_path(door: Door) -> None:
    for path, methods in (
        ("metadata/taskdefs", {"GET", "HEAD", "POST", "PUT"}),
        ("tasks/poll/batch/x", {"GET"}),
        ("workflow", {"POST"}),
    ):
        answer = door.ask("OPTIONS", path)
        assert answer.status_code == 200
        assert set(answer.headers["allow"].split(", ")) >= methods
    assert door.ask("OPTIONS", "nothing/is/here/at_all").status_code == 404


def test_another_page_may_not_ask_what_it_may(door: Door) -> None:
    asking = {"Origin": "http://evil.test", "Access-Control-Request-Method": "POST"}
    message = door.refused(403, "OPTIONS", "workflow", headers=asking)
    assert message.startswith("Invalid CORS request")


def test_a_page_elsewhere_can_embed_nothing(door: Door) -> None:
    """An image or a script is fetched without an origin, and a GET can claim a task."""
    door.start(door.define("embedded"))
    path = "tasks/poll/batch/embedded_task?timeout=0"
    for site in ("cross-site", "same-site"):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
        door.refused(403, "GET", path, headers=headers)
    following = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert door.ask("GET", "metadata/workflow/names", headers=following).status_code == 200
    assert len(door.ask("GET", path, headers={"Sec-Fetch-Site": "same-origin"}).json()) == 1


def test_a_link_elsewhere_can_change_nothing(door: Door) -> None:
    """Some changes may be asked for with GET, and a link is followed with one."""
    door.define("linked")
    following = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    for path in (
        "workflow/execute/linked?waitForSeconds=1",
        "scheduler/admin/pause",
        "scheduler/admin/resume",
        "scheduler/schedules/x/pause",
        "scheduler/schedules/x/resume",
    ):
        door.refused(403, "GET", path, headers=following)
    assert door.get("workflow/running/linked") == []


def test_a_compressed_body_is_refused_by_name(door: Door) -> None:
    door.define("squeezed")
    body = gzip.compress(b"{}")
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    for path in ("workflow", "workflow/squeezed", "tasks"):
        message = door.refused(400, "POST", path, content=body, headers=headers)
        assert "Content-Encoding 'gzip'" in message


def test_an_execution_without_its_tasks_is_the_same_but_for_them(door: Door) -> None:
    workflow_id = door.start(door.define("bare"), input={"a": 1}, correlationId="c")
    whole = door.execution(workflow_id)
    bare = door.get(f"workflow/{workflow_id}?includeTasks=false")
    assert len(whole["tasks"]) == 1
    assert bare == {**whole, "tasks": []}


def test_a_large_execution_comes_compressed_whether_with_its_tasks_or_without(door: Door) -> None:
    workflow_id = door.start(door.define("wide"), input={"text": "x" * 40_000})
    for tasks in ("true", "false"):
        place = f"workflow/{workflow_id}?includeTasks={tasks}"
        answer = door.ask("GET", place, headers={"accept-encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.json()["input"] == {"text": "x" * 40_000}


def test_words_of_the_router_are_no_names_of_workflows(door: Door) -> None:
    assert "name cannot be null" in door.refused(400, "POST", "workflow/test", json={})
    assert "totalHits" in door.get("workflow/search")
