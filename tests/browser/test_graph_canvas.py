"""The canvas in a real browser: choosing, adding, moving about, and never mounted anew."""

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

expect.set_options(timeout=20_000)  # a busy machine is slow, not wrong


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    port = free_port()
    options = [f"--server.port={port}", "--server.headless=true", "--server.address=127.0.0.1"]
    quiet = ["--browser.gatherUsageStats=false", "--server.fileWatcherType=none"]
    command = [sys.executable, "-m", "streamlit", "run", str(HERE / "canvas_page.py")]
    server = subprocess.Popen(
        [*command, *options, *quiet],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    for line in server.stdout:  # it says when it listens
        if "URL:" in line:
            break
    # What it says later is read and dropped: a full pipe would stop it.
    reader = threading.Thread(target=server.stdout.read)
    reader.start()
    yield f"http://127.0.0.1:{port}"
    server.kill()
    server.wait()
    reader.join()
    server.stdout.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert not errors


def canvas(page: Page, address: str, case: str) -> Locator:
    page.goto(f"{address}/?case={case}")
    found = page.locator(".canvas")
    expect(found).to_have_attribute("data-waiting", "0", timeout=30_000)
    return found


def node(page: Page, id_: str) -> Locator:
    return page.locator(f'.node[data-id="{id_}"]')


def test_a_click_selects_a_task_and_python_hears_of_it(page: Page, address: str) -> None:
    canvas(page, address, "run")
    node(page, "charge_card").click()
    expect(page.get_by_text("selected: charge_card")).to_be_visible()
    expect(node(page, "charge_card")).to_have_attribute("aria-pressed", "true")


def test_a_choice_of_the_person_holds_until_the_page_makes_a_new_one(
    page: Page, address: str
) -> None:
    canvas(page, address, "run")
    expect(node(page, "score_risk")).to_have_attribute("aria-pressed", "true")
    node(page, "charge_card").click()
    page.get_by_role("button", name="Tick").click()
    expect(page.get_by_text("ticks: 1")).to_be_visible()
    expect(node(page, "charge_card")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Tick").click()
    expect(node(page, "track")).to_have_attribute("aria-pressed", "true")


def test_the_keyboard_walks_along_the_lines_and_enter_selects(page: Page, address: str) -> None:
    canvas(page, address, "run")
    page.locator(".draw").focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.get_by_text("selected: manual_review")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("selected: None")).to_be_visible()


def test_the_keyboard_leaves_a_loop_at_its_end(page: Page, address: str) -> None:
    canvas(page, address, "run")
    node(page, "poll_carrier").click()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("selected: close_order")).to_be_visible()


def test_a_plus_inserts_exactly_once_and_nothing_is_mounted_anew(page: Page, address: str) -> None:
    found = canvas(page, address, "edit")
    expect(found).to_have_attribute("data-mount", "1")
    rev = found.get_attribute("data-rev")
    page.locator('.plus[data-edge="plan>approval"]').click()
    page.locator('.menu [data-type="HTTP"]').click()
    expect(page.get_by_text("said: insert 1", exact=True)).to_be_visible()
    expect(node(page, "new_1")).to_be_visible()
    page.get_by_role("button", name="Tick").click()
    expect(page.get_by_text("ticks: 1")).to_be_visible()
    expect(page.get_by_text("said: insert 1", exact=True)).to_be_visible()
    expect(found).to_have_attribute("data-mount", "1")
    expect(found).to_have_attribute("data-waiting", "0")
    assert found.get_attribute("data-rev") != rev


def test_a_burst_of_edits_arrives_whole_and_in_order(page: Page, address: str) -> None:
    canvas(page, address, "edit")
    node(page, "plan").click()
    for _ in range(6):
        page.keyboard.press("+")
        page.keyboard.press("Enter")
    said = ", ".join(f"insert {number}" for number in range(1, 7))
    expect(page.get_by_text(f"said: {said}", exact=True)).to_be_visible()


def test_delete_removes_the_task_under_the_cursor_in_edit_mode_only(
    page: Page, address: str
) -> None:
    canvas(page, address, "edit")
    node(page, "plan").click()
    page.keyboard.press("Delete")
    expect(node(page, "plan")).to_have_count(0)
    canvas(page, address, "run")
    node(page, "score_risk").click()
    page.keyboard.press("Delete")
    expect(page.get_by_text("selected: score_risk")).to_be_visible()
    expect(page.locator(".plus")).to_have_count(0)


def test_live_updates_keep_the_view_and_show_the_new_status(page: Page, address: str) -> None:
    found = canvas(page, address, "run")
    expect(node(page, "poll_carrier")).to_have_attribute("data-status", "IN_PROGRESS")
    page.get_by_role("button", name="Zoom out").click()
    expect(page.locator(".zoom")).to_have_text(re.compile("7[78] %"))
    view = page.locator(".draw > g").get_attribute("transform")
    page.get_by_role("button", name="Tick").click()
    expect(node(page, "poll_carrier")).to_have_attribute("data-status", "FAILED")
    assert page.locator(".draw > g").get_attribute("transform") == view
    expect(found).to_have_attribute("data-mount", "1")


def test_a_remount_loses_neither_view_nor_selection(page: Page, address: str) -> None:
    found = canvas(page, address, "run")
    node(page, "charge_card").click()
    page.get_by_role("button", name="Zoom out").click()
    expect(page.get_by_text("selected: charge_card")).to_be_visible()
    view = page.locator(".draw > g").get_attribute("transform")
    page.get_by_role("button", name="Mount anew").click()
    expect(found).to_have_attribute("data-mount", "2")
    expect(node(page, "charge_card")).to_have_attribute("aria-pressed", "true")
    assert page.locator(".draw > g").get_attribute("transform") == view


def test_dragging_the_paper_pans_and_selects_nothing(page: Page, address: str) -> None:
    canvas(page, address, "run")
    node(page, "charge_card").click()
    world = page.locator(".draw > g")
    before = world.get_attribute("transform")
    box = page.locator(".draw").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 40, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 140, box["y"] + 250, steps=4)
    page.mouse.up()
    expect(world).not_to_have_attribute("transform", before or "")
    expect(page.get_by_text("selected: charge_card")).to_be_visible()


def test_the_first_click_does_not_move_the_view(page: Page, address: str) -> None:
    canvas(page, address, "many")
    expect(node(page, "poll_0800")).to_be_visible()
    view = page.locator(".draw > g").get_attribute("transform")
    node(page, "pause_0800").click()
    expect(page.get_by_text("selected: pause_0800")).to_be_visible()
    assert page.locator(".draw > g").get_attribute("transform") == view


def test_a_task_dragged_on_to_a_plus_asks_to_be_moved(page: Page, address: str) -> None:
    canvas(page, address, "edit")
    plus = page.locator('.plus[data-edge="root_cause>plan"]').bounding_box()
    from_ = node(page, "query_logs").bounding_box()
    assert plus is not None and from_ is not None
    page.mouse.move(from_["x"] + 60, from_["y"] + 20)
    page.mouse.down()
    page.mouse.move(plus["x"] + 11, plus["y"] + 11, steps=6)
    page.mouse.up()
    expect(page.get_by_text("said: move 1", exact=True)).to_be_visible()


def test_the_table_twin_says_and_does_the_same(page: Page, address: str) -> None:
    canvas(page, address, "edit")
    page.get_by_role("button", name="Show as a table").click()
    table = page.get_by_role("table", name="Workflow graph, as a table")
    table.get_by_role("button", name="approval", exact=True).click()
    expect(page.get_by_text("selected: approval")).to_be_visible()
    table.get_by_role("button", name="Add a task after approval").click()
    page.get_by_role("menuitem", name="Wait", exact=True).click()
    expect(page.get_by_text("said: insert 1", exact=True)).to_be_visible()
    expect(table.get_by_role("button", name="new_1", exact=True)).to_be_visible()


def test_a_narrow_screen_gets_the_list(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    canvas(page, address, "run")
    expect(page.locator(".draw")).to_be_hidden()
    page.locator('.twin [data-id="charge_card"]').click()
    expect(page.get_by_text("selected: charge_card")).to_be_visible()


def test_two_thousand_tasks_draw_only_what_is_in_view(page: Page, address: str) -> None:
    found = canvas(page, address, "many")
    assert int(found.get_attribute("data-nodes") or 0) > 2_000
    expect(node(page, "poll_0800")).to_be_visible()  # the failed one is shown first
    assert page.locator(".node").count() < 60
    page.get_by_role("searchbox").fill("pause_1984")
    page.get_by_role("searchbox").press("Enter")
    expect(node(page, "pause_1984")).to_be_visible()


def test_a_name_with_markup_stays_text(page: Page, address: str) -> None:
    canvas(page, address, "broken")
    page.get_by_role("searchbox").fill("<script>")
    page.get_by_role("searchbox").press("Enter")
    expect(page.get_by_text("selected: <script>alert(1)</script>")).to_be_visible()
    assert page.locator(".canvas script").count() == 0
