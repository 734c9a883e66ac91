"""Starting a run, answering a task, changing a task definition: by the pages alone."""

from sample_workflows.catalogue import sample
from tests.client.conductor_data import ORDER, a_busy_server, a_failed_order, an_execution
from tests.client.fake_conductor import Server
from tests.pages.studio import asking, no_page_failed, opened, words

GREETING = {
    "name": "greeting",
    "version": 2,
    "inputTemplate": {"language": "en", "times": 2},
    "inputParameters": ["name"],
    "tasks": [{"name": "greet", "taskReferenceName": "greet", "type": "SIMPLE"}],
}


def test_the_fields_of_a_start_come_from_the_definition() -> None:
    server = Server(definitions=[GREETING])
    asking(server.app())
    app = opened("start", {"wf": "greeting"})
    no_page_failed(app)
    app.text_input(key="start:greeting:2::name").set_value("Ada").run()
    app.button(key="start_confirm").click().run()
    no_page_failed(app)
    verb, _, _, body = server.calls[0]
    assert verb == "start"
    assert body["input"] == {"language": "en", "times": 2, "name": "Ada"}
    assert body["version"] == 2


def test_a_number_that_is_none_cannot_be_started() -> None:
    server = Server(definitions=[GREETING])
    asking(server.app())
    app = opened("start", {"wf": "greeting"})
    app.text_input(key="start:greeting:2::times").set_value("many").run()
    assert app.button(key="start_confirm").disabled
    assert "a number is needed" in words(app)


def test_a_start_like_an_earlier_run_begins_with_its_input() -> None:
    asking(Server().add(a_failed_order()).app())
    app = opened("start", {"wf": "order_saga", "like": ORDER})
    no_page_failed(app)
    assert app.text_input(key=f"start:order_saga:7:{ORDER}:orderId").value == "A-1042"


def test_a_definition_that_is_not_there_is_said_before_another_is_shown() -> None:
    asking(Server(definitions=[GREETING]).app())
    app = opened("start", {"wf": "nowhere"})
    no_page_failed(app)
    assert "There is no definition nowhere." in words(app)


def test_a_sample_offers_an_input_that_fails_on_purpose() -> None:
    offered = sample("order_saga")
    server = Server(definitions=[offered.definition])
    asking(server.app())
    app = opened("start", {"wf": "order_saga"})
    app.selectbox(key="start_like").select(f"Fails on purpose: {offered.failing.title}").run()
    no_page_failed(app)
    app.button(key="start_confirm").click().run()
    assert server.calls[0][3]["input"] == offered.failing.input


def test_a_missing_child_definition_stops_the_start() -> None:
    flow = {
        "name": "parent",
        "tasks": [
            {
                "name": "child",
                "taskReferenceName": "child",
                "type": "SUB_WORKFLOW",
                "subWorkflowParam": {"name": "nowhere"},
            }
        ],
    }
    asking(Server(definitions=[flow]).app())
    app = opened("start", {"wf": "parent"})
    assert "There is no definition nowhere." in words(app)
    assert app.button(key="start_confirm").disabled


def test_a_waiting_task_is_answered_with_a_reason() -> None:
    server = a_busy_server()
    asking(server.app())
    app = opened("human", {"id": "wait-1", "task": "approval-7"})
    assert "Restart cache-2?" in words(app)
    assert app.button(key="human_confirm").disabled
    app.text_input(key="human_reason").set_value("looked at the plan").run()
    app.button(key="human_confirm").click().run()
    no_page_failed(app)
    verb, _, about, _ = server.calls[0]
    assert (verb, about["ref"], about["status"]) == ("report", "approval", "COMPLETED")


def test_an_answered_task_is_shown_and_asked_no_more() -> None:
    asking(Server().add(a_failed_order()).app())
    app = opened("human", {"id": ORDER, "task": "reserve_stock"})
    no_page_failed(app)
    assert "answered already" in words(app)


def test_a_task_definition_is_saved_with_what_would_change() -> None:
    server = a_busy_server()
    asking(server.app())
    app = opened("task_defs", {"name": "charge_card"})
    app.number_input(key="task_def:charge_card:retryCount").set_value(1).run()
    assert "retryCount" in words(app) and "At most 2 tries" in words(app)
    app.text_input(key="task_def_reason").set_value("the bank wants fewer").run()
    app.button(key="task_def_save").click().run()
    no_page_failed(app)
    assert server.task_defs["charge_card"]["retryCount"] == 1
    assert "charge_card is saved." in words(app)


def test_a_huge_payload_is_shown_in_part_and_offered_whole() -> None:
    """FR-048."""
    server = Server().add(an_execution("big", GREETING, input={"text": "x" * 400_000}))
    asking(server.app())
    app = opened("execution", {"id": "big", "tab": "Input and output"})
    no_page_failed(app)
    assert "The first 4,000 signs of 390.6 KiB" in words(app)


def test_what_is_named_like_a_secret_is_covered() -> None:
    server = Server().add(an_execution("one", GREETING, input={"api_key": "sk-1", "name": "Ada"}))
    asking(server.app())
    said = words(opened("execution", {"id": "one", "tab": "Input and output"}))
    assert "sk-1" not in said and "Ada" in said
