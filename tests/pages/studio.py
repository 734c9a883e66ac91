"""The studio as a test drives it: a page by its address, asking a server in this process."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from studio import navigation, session
from studio.client.client import Client
from studio.client.transport import in_process, over_network

SCRIPT = Path(navigation.__file__).with_name("app.py")


def asking(app: Any) -> None:
    """From now on the studio asks this ASGI app."""
    client = Client(in_process(app), name="test")
    session.use(lambda: client)


def asking_nobody() -> None:
    client = Client(over_network("http://127.0.0.1:9"))
    session.use(lambda: client)


def opened(page: str, parameters: Mapping[str, str | Sequence[str]] | None = None) -> AppTest:
    """A page of a fresh session, opened by its address."""
    entry = navigation.page_named(page)
    assert entry is not None
    app = AppTest.from_file(str(SCRIPT), default_timeout=30)
    for name, value in (parameters or {}).items():
        app.query_params[name] = value if isinstance(value, str) else list(value)
    app.switch_page(str(entry.path))
    # Streamlit knows a page by its address; AppTest takes the name of the file for it.
    app._page_hash = calc_hash(entry.address)
    return app.run()


def words(app: AppTest) -> str:
    """Everything that is written on a page."""
    kinds = ("markdown", "caption", "error", "warning", "info", "success", "code", "title")
    found = [str(element.value) for kind in kinds for element in app.get(kind)]
    found += [html_of(element) for element in app.get("html")]
    found += [str(button.label) for button in app.button]
    return "\n".join(found).replace("\\", "")


def html_of(element: Any) -> str:
    return str(element.proto.body)


def no_page_failed(app: AppTest) -> None:
    assert not app.exception, [found.value for found in app.exception]
