"""The list of executions: held still while rows are chosen, refreshed otherwise by the person's hand."""

from dataclasses import replace
from typing import Any, Final

import streamlit as st

from studio.client.client import Found
from studio.components import filters as filters_room
from studio.components import frame, markup, row_picker
from studio.components.visit import Visit
from studio.views import executions, wording
from studio.views.executions import ExecutionRow, Filters

PICKER: Final = "rows"
_HELD: Final = "held"

COLUMNS: Final = (
    markup.Column("Status"),
    markup.Column("Id"),
    markup.Column("Definition"),
    markup.Column("Correlation", wide=True),
    markup.Column("Failed at, reason", cut=True, wide=True),
    markup.Column("Started", align="right"),
    markup.Column("Ran", align="right", wide=True),
)


def head(visit: Visit) -> None:
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        frame.title("Executions")
    if row.button("Refresh", icon=":material/refresh:", key="refresh"):
        row_picker.clear(PICKER)
    if row.button("Start a run", icon=":material/play_arrow:", key="start_run"):
        st.switch_page("../pages/start.py")


def names(visit: Visit) -> list[str]:
    found = {str(one.get("name")) for one in visit.client.definitions() if one.get("name")}
    return sorted(found)


def counts(visit: Visit, wanted: Filters) -> dict[str, int]:
    """How many the other filters leave, by status."""
    found: dict[str, int] = {}
    for status in executions.STATUSES:
        query, free = executions.query_of(replace(wanted, status=(status,)), visit.now_ms)
        found[status] = visit.client.search(query, free_text=free, size=1).total
    return found


def show(visit: Visit, wanted: Filters) -> list[str]:
    """Draws the table; the ids that are chosen."""
    if wanted.dropped:
        st.warning(f"Not understood in the address and left out: {', '.join(wanted.dropped)}.")
    chosen = row_picker.chosen(PICKER)
    found, held_ms = _found(visit, wanted, bool(chosen))
    rows = executions.rows_of(found.rows, visit.now_ms)
    if not rows:
        _nothing(visit, wanted)
        return []
    strip = st.container(key="strip")
    row_picker.show(COLUMNS, [row_of(visit, row) for row in rows], key=PICKER)
    with strip:
        _strip(visit, wanted, found, held_ms)
    _pages(wanted, found.total)
    return chosen


def _found(visit: Visit, wanted: Filters, hold: bool) -> tuple[Found, int]:
    """The page of results; while rows are chosen the one they were chosen from."""
    held: dict[str, Any] | None = st.session_state.get(_HELD)
    if hold and held and held["filters"] == wanted:
        return held["found"], held["at"]
    query, free = executions.query_of(wanted, visit.now_ms)
    start = (wanted.page - 1) * executions.PAGE_SIZE
    found = visit.client.search(
        query,
        free_text=free,
        start=start,
        size=executions.PAGE_SIZE,
        sort=wanted.sort,
        top_level=wanted.top,
    )
    st.session_state[_HELD] = {"filters": wanted, "found": found, "at": visit.now_ms}
    return found, 0


def row_of(visit: Visit, row: ExecutionRow) -> markup.Row:
    where = markup.joined(markup.code(row.failed_at), " ") if row.failed_at else ""
    return markup.Row(
        [
            markup.status(row.status),
            markup.identifier(row.id, markup.address("execution", id=row.id)),
            markup.joined(markup.code(row.name), markup.dim(f" v{row.version}")),
            row.correlation,
            markup.joined(where, markup.span(row.reason, css="rp-mid")),
            wording.ago(row.started_ms, visit.now_ms, visit.zone),
            wording.took(row.ran_ms),
        ],
        id=row.id,
        hints={4: row.reason, 5: wording.absolute(row.started_ms, visit.zone)},
    )


def _strip(visit: Visit, wanted: Filters, found: Found, held_ms: int) -> None:
    first = (wanted.page - 1) * executions.PAGE_SIZE + 1
    last = first + len(found.rows) - 1
    words = f"{wording.number(first)} to {wording.number(last)} of {wording.number(found.total)}"
    row = st.container(horizontal=True, vertical_alignment="center")
    if not held_ms:
        row.caption(f"{words}, read at {wording.moment(visit.now_ms, visit.zone, '%H:%M:%S')}.")
        return
    query, free = executions.query_of(wanted, visit.now_ms)
    newer = visit.client.search(query, free_text=free, size=1).total - found.total
    since = wording.moment(held_ms, visit.zone, "%H:%M:%S")
    row.caption(f"{words}. Held still since {since} while you select; {max(newer, 0)} newer.")
    row.button(
        "Show newer",
        key="show_newer",
        type="tertiary",
        on_click=row_picker.clear,
        args=(PICKER,),
    )


def _pages(wanted: Filters, total: int) -> None:
    pages = -(-total // executions.PAGE_SIZE)
    if pages < 2:
        return
    page = st.pagination(pages, default=min(wanted.page, pages), key=f"page_of_{hash(wanted)}")
    if page != wanted.page:
        filters_room.turn_to(wanted, page)
        st.rerun()


def _nothing(visit: Visit, wanted: Filters) -> None:
    """Says which filter leaves nothing, with a way to take it off."""
    if not wanted.narrowed:
        st.info("Nothing has run yet.")
        st.page_link("../pages/start.py", label="Start a run", icon=":material/play_arrow:")
        return
    st.info("No execution passes these filters.")
    row = st.container(horizontal=True)
    labels = {
        "q": "words",
        "wf": "definition",
        "corr": "correlation",
        "status": "status",
        "since": "time",
    }
    for name, label in labels.items():
        if not getattr(wanted, name):
            continue
        wider = executions.without(wanted, name)
        query, free = executions.query_of(wider, visit.now_ms)
        count = visit.client.search(query, free_text=free, size=1).total
        address = markup.address("executions", **wider.parameters())
        with row:
            text = f"Without the {label}: {wording.number(count)}"
            markup.show(markup.button(text, address))
