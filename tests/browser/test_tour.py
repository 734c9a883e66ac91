"""The five-minute tour, by clicking only: a sample fails, is understood and recovered; a workflow is
drawn, published and run. The whole product runs: supervisor, engine, studio, browser."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

ROOT = Path(__file__).parents[2]
PATIENCE_MS = 60_000  # a busy machine is slow, not wrong


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The product as a person starts it, on a database and a desk of its own."""
    folder = tmp_path_factory.mktemp("tour")
    port = free_port()
    command = [sys.executable, "-m", "studio", "--no-browser", f"--port={port}"]
    command += [f"--engine-port={free_port()}", f"--database=sqlite:///{folder / 'runs.db'}"]
    surroundings = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "REPRISE_DESK": str(folder / "desk.db"),
        "REPRISE_PERSON": "ada",
    }
    process = subprocess.Popen(
        command, cwd=folder, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )  # fmt: skip
    assert process.stdout is not None
    said = []
    for line in process.stdout:  # it says when it is ready
        said.append(line)
        if "is ready" in line:
            break
    else:
        pytest.fail("the studio did not come up:\n" + "".join(said))
    # What it says later is read and dropped: a full pipe would stop it.
    reader = threading.Thread(target=process.stdout.read)
    reader.start()
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(timeout=60)
    reader.join()
    process.stdout.close()


class Visitor:
    """A person at the screen, whose clicks are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        page.set_default_timeout(PATIENCE_MS)

    def sees(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible(timeout=PATIENCE_MS)

    def presses(self, name: str | re.Pattern[str], role: str = "button") -> None:
        """Presses what bears this name; it has to be there, and usable, first."""
        found = self.page.get_by_role(role, name=name).first  # type: ignore[arg-type]
        expect(found).to_be_enabled(timeout=PATIENCE_MS)
        found.click()
        self.clicks += 1

    def follows(self, name: str) -> None:
        self.presses(name, "link")

    def writes(self, label: str, text: str) -> None:
        field = self.page.get_by_role("textbox", name=label).first
        expect(field).to_be_editable(timeout=PATIENCE_MS)
        field.fill(text)
        field.press("Tab")
        expect(field).to_have_value(text, timeout=PATIENCE_MS)

    def adds(self, between: str, task: str, ref: str) -> None:
        """Opens the plus on a line of the graph, chooses a task, and sees it in the picture."""
        plus = self.page.locator(".plus").and_(self.page.get_by_label(between))
        plus.first.click()
        self.presses(task, "menuitem")
        self.clicks += 1
        expect(self.page.locator(f".node[data-id={ref}]").first).to_be_visible(timeout=PATIENCE_MS)


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield Visitor(page)
    assert errors == []
    context.close()


def test_a_sample_fails_is_understood_and_recovers(studio: str, visitor: Visitor) -> None:
    visitor.page.goto(studio)
    visitor.sees("What needs you now")
    visitor.follows("Definitions")
    visitor.follows("photo_batch")
    visitor.presses("Start a run")
    visitor.writes("unreadableOnce", "lighthouse.jpg")
    visitor.page.get_by_role("button", name="Start").last.click()
    visitor.clicks += 1
    visitor.sees("Root failure in")
    visitor.sees("The photo store did not answer while reading lighthouse.jpg")
    visitor.presses("Retry from")
    visitor.sees("Reused as they are")
    visitor.presses(re.compile(r"Retry \d+ tasks?"))
    expect(visitor.page.locator(".rp-st", has_text="Completed").first).to_be_visible(
        timeout=PATIENCE_MS
    )
    assert visitor.clicks <= 6


def test_a_workflow_is_drawn_published_and_run(studio: str, visitor: Visitor) -> None:
    visitor.page.goto(studio)
    visitor.follows("Editor")
    visitor.writes("Name of the new definition", "tour_steps")
    visitor.presses("Start blank")
    visitor.sees("Never published")
    visitor.adds("Add a task between the start and the end", "Set variables", "set_variable")
    visitor.adds("Add a task between set_variable and the end", "No operation", "noop")
    visitor.writes("Description", "Says that it is done.")
    visitor.sees("revision 3")
    visitor.presses("Publish v1…")
    visitor.writes("What changed and why", "The first version")
    visitor.page.get_by_role("dialog").get_by_role("button", name="Publish v1").click()
    visitor.clicks += 1
    visitor.sees("v1 is published.")
    visitor.follows("Start it")
    visitor.page.get_by_role("button", name="Start").last.click()
    visitor.clicks += 1
    expect(visitor.page.locator(".rp-st", has_text="Completed").first).to_be_visible(
        timeout=PATIENCE_MS
    )
    assert visitor.clicks <= 20


def test_a_draft_is_found_again_after_a_reload(studio: str, visitor: Visitor) -> None:
    visitor.page.goto(f"{studio}/editor?wf=hello_reprise")
    visitor.adds("Add a task between compose_greeting and count_letters", "Wait", "wait")
    visitor.sees("revision 1")
    visitor.page.reload()
    visitor.sees("Draft from v1")
    expect(visitor.page.locator(".node[data-id=wait]").first).to_be_visible(timeout=PATIENCE_MS)
