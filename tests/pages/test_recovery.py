"""Recovering by the pages alone: how many clicks, what is asked, what is said afterwards."""

from streamlit.testing.v1 import AppTest

from tests.client.conductor_data import ORDER, a_failed_order
from tests.client.fake_conductor import Server
from tests.pages.studio import asking, no_page_failed, opened, words


def a_failed_page() -> tuple[Server, AppTest]:
    server = Server().add(a_failed_order())
    asking(server.app())
    return server, opened("execution", {"id": ORDER})


def plan(app: AppTest) -> AppTest:
    app.button(key="failure_action").click().run()
    no_page_failed(app)
    return app


def test_the_failure_card_names_root_reason_and_next_action() -> None:
    _, app = a_failed_page()
    said = words(app)
    assert "Root failure in <code>poll_carrier</code>, iteration 3, 3 tries" in said
    assert "HTTP 503 from the carrier gateway" in said
    assert "Retry from poll_carrier" in said


def test_a_failed_execution_is_recovered_with_three_clicks_the_link_included() -> None:
    server, app = a_failed_page()
    clicks = 1
    plan(app)
    clicks += 1
    app.button(key="plan_confirm").click().run()
    clicks += 1
    no_page_failed(app)
    assert clicks == 3
    assert [call[:2] for call in server.calls] == [("retry", ORDER)]
    assert "not recovered yet" in words(app)


def test_the_plan_tells_what_runs_again_and_what_is_reused() -> None:
    _, app = a_failed_page()
    said = words(plan(app))
    assert "Runs again" in said and "<b>3</b>" in said
    assert "Estimated from the outline" in said
    assert "Nothing has been changed yet." in said


def test_nothing_is_done_without_a_reason() -> None:
    server, app = a_failed_page()
    plan(app)
    app.text_input(key="plan_reason_retry").set_value("  ").run()
    assert app.button(key="plan_confirm").disabled
    assert server.calls == []


def test_keeping_it_as_it_is_changes_nothing() -> None:
    server, app = a_failed_page()
    plan(app)
    app.button(key="plan_keep").click().run()
    no_page_failed(app)
    assert server.calls == []
    assert "plan" not in app.session_state


def test_a_recovery_is_only_called_one_when_the_execution_has_ended_well() -> None:
    server, app = a_failed_page()
    plan(app)
    app.button(key="plan_confirm").click().run()
    assert "Recovered" not in words(app)
    server.executions[ORDER]["status"] = "COMPLETED"
    assert "Recovered and verified" in words(app.run())


def test_a_recovery_that_fails_again_is_called_not_recovered() -> None:
    server, app = a_failed_page()
    plan(app)
    app.button(key="plan_confirm").click().run()
    server.executions[ORDER]["status"] = "FAILED"
    assert "accepted, not recovered: FAILED again" in words(app.run())


def test_a_rerun_sends_the_task_and_its_changed_input() -> None:
    server, app = a_failed_page()
    app.button(key="act_rerun").click().run()
    app.toggle(key="plan_input").set_value(True).run()
    app.text_area(key="plan_task_input").set_value('{"uri": "https://other"}').run()
    app.button(key="plan_confirm").click().run()
    no_page_failed(app)
    verb, _, _, body = server.calls[0]
    assert verb == "rerun"
    assert body == {"reRunFromTaskId": "poll_carrier-12", "taskInput": {"uri": "https://other"}}


def test_a_changed_input_that_is_no_json_cannot_be_sent() -> None:
    server, app = a_failed_page()
    app.button(key="act_rerun").click().run()
    app.toggle(key="plan_input").set_value(True).run()
    app.text_area(key="plan_task_input").set_value("{").run()
    assert app.button(key="plan_confirm").disabled
    assert server.calls == []


def test_what_the_server_refuses_stays_in_the_dialog_in_its_words() -> None:
    server, app = a_failed_page()
    plan(app)
    server.broken = True
    app.button(key="plan_confirm").click().run()
    no_page_failed(app)
    assert "The database is gone" in words(app)


def test_many_are_retried_and_what_is_in_another_state_is_left_out() -> None:
    server = Server().add(
        a_failed_order("one"), a_failed_order("two"), a_failed_order("done", "COMPLETED")
    )
    asking(server.app())
    app = opened("executions")
    app.session_state["rows"] = {"chosen": ["one", "two", "done"]}
    app.run()
    app.button(key="bulk_retry").click().run()
    no_page_failed(app)
    assert "left out" in words(app)
    app.text_input(key="bulk_reason").set_value("gateway is back").run()
    app.button(key="bulk_confirm").click().run()
    no_page_failed(app)
    verb, _, about, ids = server.calls[0]
    assert (verb, sorted(ids), about["reason"]) == ("retry", ["one", "two"], "gateway is back")
    assert "accepted for 2" in words(app)


def test_a_selection_holds_the_list_still() -> None:
    server = Server().add(a_failed_order("one"))
    asking(server.app())
    app = opened("executions")
    app.session_state["rows"] = {"chosen": ["one"]}
    app.run()
    server.add(a_failed_order("newer"))
    said = words(app.run())
    assert "Held still since" in said and "1 newer" in said
