"""The Python side of the canvas: what it sends, and that each op is handed out exactly once."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from studio.components import graph_canvas

PAGE = Path(__file__).with_name("canvas_app.py")
INSERT = {"op": "insert", "type": "HTTP", "place": {"list": ["tasks"], "index": 0}}


def an_op(seq: int, cid: str = "c", **op: Any) -> dict[str, Any]:
    return {"cid": cid, "seq": seq, "rev": "r", **(op or INSERT)}


def a_page(outbox: list[Any], selected: Any = None) -> AppTest:
    page = AppTest.from_file(str(PAGE), default_timeout=20)
    page.session_state["graph"] = {"outbox": outbox, "selected": selected}
    page.run()
    assert not page.exception
    return page


def payload(page: AppTest) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(page.get("bidi_component")[0].proto.json)
    return data


def said(page: AppTest) -> list[str]:
    return [element.value for element in page.text]


def test_an_op_is_handed_out_once_however_often_the_browser_repeats_it() -> None:
    page = a_page([an_op(1), an_op(2)])
    assert said(page)[1] == "taken ['insert', 'insert'] shown 0"
    page.session_state["graph"] = {"outbox": [an_op(1), an_op(2), an_op(3)], "selected": None}
    page.run()
    assert said(page)[1] == "taken ['insert'] shown 0"
    assert payload(page)["ack"] == {"c": 3}


def test_two_canvases_of_one_session_number_their_ops_apart() -> None:
    page = a_page([an_op(5)])
    page.session_state["graph"] = {"outbox": [an_op(1, cid="other")], "selected": None}
    page.run()
    assert said(page)[1] == "taken ['insert'] shown 0"
    assert payload(page)["ack"] == {"c": 5, "other": 1}


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        "insert",
        {"op": "insert"},
        an_op(1, op="drop_tables"),
        an_op(1, op="insert", type="HTTP"),
        an_op(1, op="insert", type="HTTP", place={"list": "tasks", "index": 0}),
        an_op(1, op="insert", type="HTTP", place={"list": ["tasks"], "index": -1}),
        an_op(1, op="delete", id="a", path=[None]),
    ],
)
def test_what_is_no_op_is_not_handed_out(nonsense: Any) -> None:
    assert said(a_page([nonsense]))[1] == "taken [] shown 0"


def test_the_choice_of_the_person_is_told_and_acknowledged() -> None:
    page = a_page([], {"id": "<b>only</b>", "n": 4})
    assert said(page)[0] == "selected <b>only</b> <b>only</b>"
    assert payload(page)["seen"] == 4


def test_without_a_choice_the_pages_own_selection_holds() -> None:
    assert said(a_page([]))[0] == "selected None @start"


def test_a_drawing_keeps_its_text_while_the_layout_stays_the_same() -> None:
    first, second = payload(a_page([])), payload(a_page([an_op(1)]))
    assert first["rev"] == second["rev"]
    assert json.loads(first["graph"])["nodes"][1]["ref"] == "<b>only</b>"


def test_the_menu_behind_a_plus_offers_every_type_that_conductor_draws_as_its_own() -> None:
    offered = {item["type"] for item in graph_canvas.PALETTE}
    assert {"SIMPLE", "SWITCH", "FORK_JOIN", "DO_WHILE", "SUB_WORKFLOW", "TERMINATE"} <= offered
    assert payload(a_page([]))["palette"][0]["label"] == "Worker"


def test_no_line_of_the_browsers_module_turns_data_into_markup() -> None:
    parts = sorted(Path(graph_canvas.__file__).parent.glob("graph_*.js"))
    assert len(parts) == 3
    module = "".join(part.read_text("utf-8") for part in parts)
    for risky in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert risky not in module
    assert "://" not in module.replace("http://www.w3.org/2000/svg", "")
