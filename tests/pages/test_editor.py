"""The editor as a person meets it: picture, form and text are one draft, kept on the desk, published
as a new version of a real engine."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from studio.client.client import Actor, Client
from studio.desk.place import desk
from studio.editor.draft import Draft
from studio.editor.tree import find, refs_in
from tests.pages.served import an_engine
from tests.pages.studio import no_page_failed, opened, words

HELLO = {"wf": "hello_reprise"}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    with an_engine(tmp_path / "desk.db", monkeypatch) as client:
        yield client


def draft_of(name: str) -> Draft:
    saved = desk().load_draft(name, owner="ada")
    assert saved is not None
    return Draft.from_json(saved.document)


def canvas_says(
    app: AppTest, name: str, *ops: dict[str, Any], picks: int = 0, chosen: str = ""
) -> AppTest:
    """What the browser's canvas reports: edits with their numbers, and a choice."""
    numbered = [{"cid": "test", "rev": "", **op} for op in ops]
    app.session_state[f"graph/{name}"] = {
        "selected": {"id": chosen, "n": picks} if picks else None,
        "outbox": numbered,
    }
    return app.run()


def an_insert(seq: int, word: str, index: int) -> dict[str, Any]:
    return {"seq": seq, "op": "insert", "type": word, "place": {"list": ["tasks"], "index": index}}


def drawn(app: AppTest, part: str) -> dict[str, Any]:
    """What the component of this key was given."""
    for element in app.get("bidi_component"):
        if part in str(element.proto.id):
            return json.loads(element.proto.json)  # type: ignore[no-any-return]
    raise AssertionError(f"{part} is not on the page")


def typed(app: AppTest, label: str, text: str) -> AppTest:
    field = next(each for each in app.text_input if each.label.startswith(label))
    return field.set_value(text).run()


def pressed(app: AppTest, label: str) -> AppTest:
    return next(each for each in app.button if label in each.label).click().run()


def test_without_a_name_one_can_begin_or_go_on(engine: Client) -> None:
    app = opened("editor")
    no_page_failed(app)
    text = words(app)
    assert "Start blank" in text and "Approval" in text and "hello_reprise" in text


def test_a_definition_is_opened_as_a_draft_that_nobody_has_to_save(engine: Client) -> None:
    app = opened("editor", HELLO)
    no_page_failed(app)
    assert desk().load_draft("hello_reprise", owner="ada") is None
    app = canvas_says(app, "hello_reprise", an_insert(1, "WAIT", 1))
    no_page_failed(app)
    assert refs_in(draft_of("hello_reprise").definition["tasks"]) == [
        "compose_greeting", "wait", "count_letters",
    ]  # fmt: skip


def test_an_edit_that_the_browser_repeats_is_done_once(engine: Client) -> None:
    app = opened("editor", HELLO)
    for _ in range(2):
        app = canvas_says(app, "hello_reprise", an_insert(1, "WAIT", 1))
    assert len(draft_of("hello_reprise").definition["tasks"]) == 3


def test_a_draft_survives_a_new_session(engine: Client) -> None:
    """FR-047."""
    canvas_says(opened("editor", HELLO), "hello_reprise", an_insert(1, "WAIT", 1))
    text = words(opened("editor", {**HELLO, "task": "wait"}))
    assert "Draft from v1" in text and "revision 1" in text and "<code>wait</code>" in text


def test_a_field_of_the_form_changes_the_chosen_task(engine: Client) -> None:
    app = opened("editor", {**HELLO, "task": "compose_greeting"})
    app = typed(app, "Description", "Says hello.")
    no_page_failed(app)
    task = find(draft_of("hello_reprise").definition, "compose_greeting").task
    assert task["description"] == "Says hello."


def test_a_new_reference_name_is_followed_by_those_who_read_it(engine: Client) -> None:
    app = opened("editor", {**HELLO, "task": "compose_greeting"})
    app = typed(app, "Reference name", "greet")
    no_page_failed(app)
    definition = draft_of("hello_reprise").definition
    assert definition["outputParameters"]["greeting"] == "${greet.output.greeting}"
    assert app.query_params["task"] == "greet"


def test_a_name_that_is_taken_is_refused_in_words_and_nothing_changes(engine: Client) -> None:
    app = opened("editor", {**HELLO, "task": "compose_greeting"})
    app = typed(app, "Reference name", "count_letters")
    assert "Another task is already called" in words(app)
    assert desk().load_draft("hello_reprise", owner="ada") is None


def test_a_step_can_be_undone_and_redone(engine: Client) -> None:
    app = canvas_says(opened("editor", HELLO), "hello_reprise", an_insert(1, "WAIT", 1))
    app = app.button(key="editor_undo").click().run()
    assert len(draft_of("hello_reprise").definition["tasks"]) == 2
    app = app.button(key="editor_redo").click().run()
    assert len(draft_of("hello_reprise").definition["tasks"]) == 3
    assert app.button(key="editor_undo").help == "Undo: Insert wait after compose_greeting"


def test_text_that_cannot_be_read_is_kept_with_line_and_column(engine: Client) -> None:
    app = opened("editor", HELLO)
    app.session_state["editor_view"] = "Code"
    broken = '{"name": "hello_reprise",\n "tasks": [,]}'
    app.session_state["code/hello_reprise"] = {"typed": {"text": broken, "n": 1}, "line": None}
    app = app.run()
    no_page_failed(app)
    assert draft_of("hello_reprise").pending_text == broken
    assert "Line 2, column 12" in words(app)
    assert len(draft_of("hello_reprise").definition["tasks"]) == 2


def test_text_and_picture_are_one_definition(engine: Client) -> None:
    app = opened("editor", HELLO)
    app.session_state["editor_view"] = "Code"
    text = json.dumps({"name": "hello_reprise", "version": 1, "tasks": []})
    app.session_state["code/hello_reprise"] = {"typed": {"text": text, "n": 1}, "line": None}
    app = app.run()
    assert draft_of("hello_reprise").definition["tasks"] == []
    app.session_state["editor_view"] = "Graph"
    assert '"outline":[]' in drawn(app.run(), "graph/hello_reprise")["graph"]


def test_problems_are_told_and_mark_their_task(engine: Client) -> None:
    app = canvas_says(opened("editor", HELLO), "hello_reprise", an_insert(1, "HTTP", 1))
    assert "needs address" in words(app)
    state = json.loads(drawn(app, "graph/hello_reprise")["state"])
    assert state["problems"]["http"][0][0] == "error"


def test_the_next_problem_chooses_its_task(engine: Client) -> None:
    app = canvas_says(opened("editor", HELLO), "hello_reprise", an_insert(1, "HTTP", 1))
    app = canvas_says(app, "hello_reprise", picks=1, chosen="count_letters")
    app = app.button(key="next_problem").click().run()
    assert app.query_params["task"] == "http"


def test_a_pattern_is_inserted_as_one_step(engine: Client) -> None:
    app = opened("editor", HELLO)
    canvas_says(app, "hello_reprise", an_insert(1, "pattern:approval", 2))
    draft = draft_of("hello_reprise")
    assert len(draft.labels) == 1 and "approval" in refs_in(draft.definition["tasks"])


def published(app: AppTest, note: str) -> AppTest:
    app = app.button(key="editor_publish").click().run()
    no_page_failed(app)
    app.text_area(key="publish_note").set_value(note)
    return app.button(key="publish_confirm").click().run()


def test_publishing_makes_a_new_version_and_leaves_the_old_one_alone(engine: Client) -> None:
    app = canvas_says(opened("editor", HELLO), "hello_reprise", an_insert(1, "WAIT", 1))
    app = published(app, "A pause, for politeness")
    no_page_failed(app)
    assert len(engine.definition("hello_reprise", 2)["tasks"]) == 3
    assert len(engine.definition("hello_reprise", 1)["tasks"]) == 2
    assert "v2 is published" in words(app.run())
    assert desk().recall("version/hello_reprise/2")["note"] == "A pause, for politeness"


def test_publishing_needs_a_reason(engine: Client) -> None:
    app = canvas_says(opened("editor", HELLO), "hello_reprise", an_insert(1, "WAIT", 1))
    app = published(app, "  ")
    assert "Say what changed and why" in words(app)
    assert engine.definition("hello_reprise")["version"] == 1


def test_errors_block_publishing(engine: Client) -> None:
    app = canvas_says(opened("editor", HELLO), "hello_reprise", an_insert(1, "HTTP", 1))
    app = app.button(key="editor_publish").click().run()
    assert "1 error to mend" in words(app)
    assert not [each for each in app.button if each.key == "publish_confirm"]


def test_a_version_published_meanwhile_is_told_before_it_is_overtaken(engine: Client) -> None:
    """FR-046."""
    app = canvas_says(opened("editor", HELLO), "hello_reprise", an_insert(1, "WAIT", 1))
    newer = {**engine.definition("hello_reprise"), "version": 2, "timeoutSeconds": 5}
    engine.save_definition(newer, Actor("bob"))
    app = app.button(key="editor_publish").click().run()
    assert "Your draft began from v1, and v2 has been published since" in words(app)
    app.text_area(key="publish_note").set_value("mine")
    app = app.button(key="publish_confirm").click().run()
    assert "Tick what you have seen first" in words(app)
    assert engine.definition("hello_reprise")["version"] == 2


def test_a_draft_that_was_saved_elsewhere_is_a_conflict_and_nothing_is_lost(engine: Client) -> None:
    """FR-046."""
    app = canvas_says(opened("editor", HELLO), "hello_reprise", an_insert(1, "WAIT", 1))
    other = opened("editor", {**HELLO, "task": "count_letters"})
    typed(other, "Description", "from the other window")
    app = canvas_says(app, "hello_reprise", an_insert(2, "NOOP", 1))
    assert "was changed elsewhere" in words(app)
    description = find(draft_of("hello_reprise").definition, "count_letters").task["description"]
    assert description == "from the other window"
    app = pressed(app, "Keep this one")
    assert "noop" in refs_in(draft_of("hello_reprise").definition["tasks"])


def test_a_new_definition_begins_blank_under_a_name_that_is_free(engine: Client) -> None:
    app = opened("editor")
    app.text_input(key="new_name").set_value("hello_reprise")
    app = app.button(key="new_blank").click().run()
    assert draft_of("hello_reprise_2").definition["name"] == "hello_reprise_2"


def test_a_definition_that_is_nowhere_is_told(engine: Client) -> None:
    app = opened("editor", {"wf": "gone"})
    no_page_failed(app)
    assert "gone" in words(app) and "Not found" in words(app)


def test_a_whole_workflow_is_built_published_and_run(engine: Client) -> None:
    app = opened("editor")
    app.text_input(key="new_name").set_value("three_steps")
    app = app.button(key="new_blank").click().run()
    app = canvas_says(
        opened("editor", {"wf": "three_steps"}),
        "three_steps",
        an_insert(1, "NOOP", 0),
        an_insert(2, "SET_VARIABLE", 1),
    )
    app = published(app, "first")
    no_page_failed(app)
    id_ = engine.start({"name": "three_steps"}, Actor("ada"))
    assert engine.execution(id_)["status"] == "COMPLETED"
