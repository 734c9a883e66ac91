"""Mock tests and versions as a person meets them, on a real engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from studio.client.client import Actor, Client
from studio.desk.place import desk
from studio.mock_suite import SUITE
from studio.views import mock_cases
from tests.pages.served import an_engine
from tests.pages.studio import no_page_failed, opened, words

SAGA = {"wf": "order_saga"}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    with an_engine(tmp_path / "desk.db", monkeypatch) as client:
        yield client


def cases() -> list[dict]:
    kept = [suite for suite in desk().suites("order_saga") if suite.name == SUITE]
    return mock_cases.kept_cases(kept[0].document) if kept else []


def with_ready_cases() -> AppTest:
    app = opened("tests", SAGA)
    return app.button(key="take_ready").click().run()


def test_without_a_name_every_definition_can_be_chosen(engine: Client) -> None:
    app = opened("tests")
    no_page_failed(app)
    assert "order_saga" in words(app) and "ready cases" in words(app)


def test_the_ready_cases_of_a_sample_are_one_click_away_and_the_first_is_played_at_once(
    engine: Client,
) -> None:
    app = with_ready_cases()
    no_page_failed(app)
    assert len(cases()) == 3
    assert "as expected" in words(app)


def test_all_cases_are_played_and_the_result_is_remembered(engine: Client) -> None:
    app = with_ready_cases().button(key="run_all").click().run()
    no_page_failed(app)
    run = desk().recall("suite-run/order_saga")
    assert (run["met"], run["cases"], run["what"]) == (3, 3, "v1")
    assert "3 cases in" in words(app) and "4 of 4" in words(app)


def test_a_case_that_differs_shows_expected_and_actual(engine: Client) -> None:
    with_ready_cases()
    first, *others = cases()
    wrong = {**first, "expect": {"output_has": {"total": 99}}}
    desk().save_suite("order_saga", SUITE, {"cases": [wrong, *others]})
    text = words(opened("tests", SAGA))
    assert "1 of 1 differs" in text and "Expected" in text and "<mark" in text
    assert "<code>total</code> reads <code>${reserve_stock.output.total}</code>" in text


def test_what_happened_can_be_accepted(engine: Client) -> None:
    with_ready_cases()
    first, *others = cases()
    wrong = {**first, "expect": {"output_has": {"total": 99}}}
    desk().save_suite("order_saga", SUITE, {"cases": [wrong, *others]})
    app = opened("tests", SAGA).button(key="accept").click().run()
    assert cases()[0]["expect"]["output_has"]["total"] == 107
    assert "as expected" in words(app)


def test_a_missing_mock_says_what_stopped_the_run(engine: Client) -> None:
    case = mock_cases.case_of("half", mocks={"reserve_stock": [mock_cases.mock("COMPLETED", {})]})
    desk().save_suite("order_saga", SUITE, {"cases": [case]})
    text = words(opened("tests", SAGA))
    assert "Stopped at <code>charge_card</code>: no mock is left for it." in text


def test_a_gap_is_covered_by_a_new_case_that_passes(engine: Client) -> None:
    app = with_ready_cases().button(key="run_all").click().run()
    cover = next(each for each in app.button if each.label == "Cover")
    app = cover.click().run()
    no_page_failed(app)
    assert cases()[-1]["name"] == "reserve_stock fails for good"
    assert "as expected" in words(app)


def test_an_execution_becomes_a_case(engine: Client) -> None:
    id_ = engine.start({"name": "order_saga", "input": {"card": "valid"}}, Actor("ada"))
    engine.report(id_, "reserve_stock", "COMPLETED", {"total": 5}, Actor("ada"))
    app = opened("tests", {**SAGA, "like": id_})
    no_page_failed(app)
    assert cases()[0]["mocks"]["reserve_stock"][0]["output"] == {"total": 5}
    assert cases()[0]["origin"] == f"execution {id_}"


def test_a_mocked_answer_can_be_changed_to_a_failure(engine: Client) -> None:
    app = with_ready_cases()
    key = "case/Order with a way back/reserve_stock/0/status"
    app = app.selectbox(key=key).set_value("FAILED_WITH_TERMINAL_ERROR").run()
    no_page_failed(app)
    assert cases()[0]["mocks"]["reserve_stock"][0]["status"] == "FAILED_WITH_TERMINAL_ERROR"
    assert "differ" in words(app)


def test_the_draft_is_what_is_tested_when_there_is_one(engine: Client) -> None:
    with_ready_cases()
    draft = opened("editor", {"wf": "order_saga", "task": "confirm_order"})
    draft.session_state["graph/order_saga"] = {
        "selected": None,
        "outbox": [{"cid": "t", "seq": 1, "rev": "", "op": "delete", "ref": "confirm_order", "id": "confirm_order", "path": ["tasks", 3]}],
    }  # fmt: skip
    draft.run()
    text = words(opened("tests", {**SAGA, "draft": "1"}))
    assert "Nobody asked for <code>confirm_order</code> (1)." in text


def test_nothing_of_a_mock_run_is_kept_by_the_engine(engine: Client) -> None:
    with_ready_cases().button(key="run_all").click().run()
    assert engine.count('workflowType = "order_saga"') == 0


def test_a_definition_that_is_nowhere_is_told(engine: Client) -> None:
    app = opened("tests", {"wf": "gone"})
    no_page_failed(app)
    assert "gone is not published" in words(app)


def test_a_single_version_says_so(engine: Client) -> None:
    app = opened("versions", SAGA)
    no_page_failed(app)
    assert "This is the only version." in words(app)


def a_second_version(engine: Client) -> None:
    old = engine.definition("order_saga")
    tasks = [task for task in old["tasks"] if task["taskReferenceName"] != "confirm_order"]
    engine.save_definition({**old, "version": 2, "tasks": tasks, "timeoutSeconds": 9}, Actor("bob"))


def test_two_versions_are_compared_in_words_and_in_one_picture(engine: Client) -> None:
    a_second_version(engine)
    app = opened("versions", SAGA)
    no_page_failed(app)
    text = words(app)
    assert "v1 and v2" in text and "<code>3600</code> → <code>9</code>" in text
    assert "<code>confirm_order</code>, SIMPLE" in text
    canvas = app.get("bidi_component")[0].proto.json
    assert "removed" in canvas and "confirm_order" in canvas


def test_an_old_version_comes_back_as_a_draft(engine: Client) -> None:
    a_second_version(engine)
    app = opened("versions", {**SAGA, "b": "1"})
    app = next(each for each in app.button if "Bring v1 back" in each.label).click().run()
    no_page_failed(app)
    saved = desk().load_draft("order_saga", owner="ada")
    assert saved is not None and len(saved.document["definition"]["tasks"]) == 4
    assert "your draft" in words(app)


def test_without_a_name_the_versions_of_all_are_listed(engine: Client) -> None:
    app = opened("versions")
    no_page_failed(app)
    assert "order_saga" in words(app)


def test_a_draft_that_is_published_is_no_side_of_its_own(engine: Client) -> None:
    app = opened("editor", {"wf": "order_saga", "task": "confirm_order"})
    description = next(each for each in app.text_input if each.label == "Description")
    app = description.set_value("Tells everybody.").run()
    assert "your draft" in words(opened("versions", SAGA))
    app = app.button(key="editor_publish").click().run()
    app.text_area(key="publish_note").set_value("clearer")
    app.button(key="publish_confirm").click().run()
    text = words(opened("versions", SAGA))
    assert "v1 and v2" in text and "your draft" not in text and "clearer" in text
