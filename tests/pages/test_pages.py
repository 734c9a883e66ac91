"""Every page shows something, whatever the server holds; none raises, none stays blank."""

import pytest

from studio import navigation
from tests.client.conductor_data import ORDER, a_busy_server
from tests.client.fake_conductor import Server
from tests.pages.studio import asking, asking_nobody, no_page_failed, opened, words

ADDRESSES = [
    ("", {}),
    ("executions", {}),
    ("executions", {"status": ["FAILED", "TIMED_OUT"], "q": "gateway", "from": "-24h"}),
    ("execution", {"id": ORDER}),
    ("execution", {"id": ORDER, "task": "charge_card", "tab": "Tasks"}),
    ("execution", {"id": ORDER, "tab": "Timeline"}),
    ("execution", {"id": ORDER, "tab": "Story"}),
    ("execution", {"id": ORDER, "tab": "JSON"}),
    ("execution", {"id": "huge-1"}),
    ("execution", {"id": "odd-1"}),
    ("execution", {"id": "odd-1", "tab": "Input and output"}),
    ("execution", {"id": "gone"}),
    ("execution", {}),
    ("definitions", {}),
    ("definitions", {"wf": "order_saga"}),
    ("definitions", {"wf": "many"}),
    ("definitions", {"wf": "gone"}),
    ("start", {"wf": "order_saga", "like": ORDER}),
    ("start", {}),
    ("task_defs", {}),
    ("task_defs", {"name": "charge_card"}),
    ("queues", {}),
    ("human", {}),
    ("human", {"id": "wait-1", "task": "approval-7"}),
    ("human", {"id": "wait-1", "task": "gone"}),
    ("settings", {}),
    ("help", {}),
]


@pytest.mark.parametrize(("page", "parameters"), ADDRESSES)
def test_a_page_shows_what_its_address_names(page: str, parameters: dict[str, str]) -> None:
    asking(a_busy_server().app())
    app = opened(page, parameters)
    no_page_failed(app)
    assert len(words(app)) > 100


@pytest.mark.parametrize("page", sorted({page for page, _ in ADDRESSES}))
def test_an_empty_server_is_no_blank_page(page: str) -> None:
    asking(Server().app())
    app = opened(page)
    no_page_failed(app)
    assert len(words(app)) > 60


@pytest.mark.parametrize("page", sorted({page for page, _ in ADDRESSES} - {"help", "settings"}))
def test_a_server_that_fails_is_told_in_its_own_words(page: str) -> None:
    server = a_busy_server()
    server.broken = True
    asking(server.app())
    app = opened(page, {"id": ORDER} if page == "execution" else {})
    no_page_failed(app)
    assert "The database is gone" in words(app)


def test_a_server_that_is_unwell_is_called_so() -> None:
    server = a_busy_server()
    server.broken = True
    asking(server.app())
    assert "Engine unwell" in words(opened("settings"))


@pytest.mark.parametrize("page", ["", "executions", "definitions", "queues"])
def test_a_server_that_is_gone_is_told_with_the_next_step(page: str) -> None:
    asking_nobody()
    app = opened(page)
    no_page_failed(app)
    assert "No answer from the server" in words(app)
    assert "Check that the server runs" in words(app)


def test_every_page_of_the_table_has_a_script() -> None:
    assert [entry.file for entry in navigation.TABLE if not entry.path.exists()] == []


def test_no_address_is_given_twice() -> None:
    addresses = [entry.address for entry in navigation.TABLE]
    assert len(addresses) == len(set(addresses))


def test_unknown_values_in_an_address_are_dropped_and_named() -> None:
    asking(a_busy_server().app())
    app = opened("executions", {"status": ["FAILED", "HAPPY"], "from": "-9y", "page": "x"})
    no_page_failed(app)
    told = app.warning[0].value
    assert "status HAPPY" in told and "from -9y" in told and "page x" in told


def test_foreign_text_never_becomes_markup() -> None:
    server = a_busy_server()
    server.executions[ORDER]["reasonForIncompletion"] = "<img src=x onerror=alert(1)>"
    asking(server.app())
    for page in ("", "executions"):
        assert "<img src=x" not in words(opened(page))


def test_the_failed_task_stays_chosen_until_the_person_chooses_another() -> None:
    asking(a_busy_server().app())
    app = opened("execution", {"id": ORDER})
    for _ in range(2):
        assert "<code>poll_carrier</code></h2>" in words(app)
        app.run()
    app.session_state[f"graph:{ORDER}"] = {"selected": {"id": "charge_card", "n": 1}}
    app.run()
    assert "<code>charge_card</code></h2>" in words(app)
    assert app.query_params["task"] in ("charge_card", ["charge_card"])


def test_a_page_puts_nothing_into_its_address_by_itself() -> None:
    asking(a_busy_server().app())
    assert "task" not in opened("execution", {"id": ORDER}).query_params
    assert not opened("executions").query_params
    assert not opened("start").query_params
