"""The table of pages: file, address, title, icon, section. Nothing else knows where a page lies."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit.navigation.page import StreamlitPage

HOME: Final = Path(__file__).resolve().parents[1] / "pages"


@dataclass(frozen=True, slots=True)
class Entry:
    """One page. A `hidden` one is reached by links only; it needs to be told what to show."""

    file: str
    address: str
    title: str
    icon: str
    section: str
    hidden: bool = False

    @property
    def path(self) -> Path:
        return HOME / self.file


TABLE: Final = (
    Entry("home.py", "", "Home", "home", "Operate"),
    Entry("executions.py", "executions", "Executions", "list", "Operate"),
    Entry("execution.py", "execution", "Execution", "list", "Operate", hidden=True),
    Entry("queues.py", "queues", "Queues and workers", "stacks", "Operate"),
    Entry("human.py", "human", "Waiting for people", "person", "Operate"),
    Entry("definitions.py", "definitions", "Definitions", "menu_book", "Design"),
    Entry("start.py", "start", "Start a run", "play_arrow", "Design", hidden=True),
    Entry("editor.py", "editor", "Editor", "edit", "Design"),
    Entry("versions.py", "versions", "Versions", "difference", "Design"),
    Entry("task_defs.py", "task_defs", "Task definitions", "tune", "Design"),
    Entry("mock_tests.py", "tests", "Mock tests", "science", "Test"),
    Entry("settings.py", "settings", "Settings", "settings", "System"),
    Entry("help.py", "help", "Help", "help", "System"),
)


def by_section() -> dict[str, list[StreamlitPage]]:
    """The pages as Streamlit wants them, told by absolute path."""
    sections: dict[str, list[StreamlitPage]] = {}
    for entry in TABLE:
        sections.setdefault(entry.section, []).append(_page(entry))
    return sections


def _page(entry: Entry) -> StreamlitPage:
    return st.Page(
        entry.path,
        title=entry.title,
        icon=f":material/{entry.icon}:",
        url_path=entry.address or None,
        default=not entry.address,
        visibility="hidden" if entry.hidden else "visible",
    )


def page_named(address: str) -> Entry | None:
    return next((entry for entry in TABLE if entry.address == address), None)
