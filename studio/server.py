"""The studio as an ASGI app under our own uvicorn: Streamlit's pages, and nothing of the engine.

`streamlit run` costs 40 ms for each kept-alive request, so the server is started here. The heavy
modules are loaded before the first visitor and taken out of the garbage collector's sight, since
Streamlit collects all of it after every run of a script.
"""

import argparse
import gc
import importlib
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

import streamlit as st
import uvicorn

from engine.instruments.child import when_parent_ends

SCRIPT: Final = Path(__file__).with_name("app.py")
_HEAVY: Final = ("pandas", "plotly.graph_objects", "networkx", "studio.components.execution_tabs")
_log: Final = logging.getLogger("reprise.studio")


def studio_app(
    start: Callable[[], None] = lambda: None,
    stop: Callable[[], None] = lambda: None,
) -> st.App:
    """The app; `start` and `stop` are called when the server begins and ends."""

    @asynccontextmanager
    async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
        for module in _HEAVY:
            importlib.import_module(module)
        # Streamlit sets the levels of uvicorn's loggers anew when it is loaded.
        for name in ("uvicorn.access", "uvicorn.error"):
            logging.getLogger(name).setLevel(logging.WARNING)
        gc.collect()
        gc.freeze()
        start()
        try:
            yield {}
        finally:
            stop()

    return st.App(SCRIPT, lifespan=lifespan, on_script_error=_told)


def _told(error: Exception) -> bool:
    """A fault of ours: the trace goes into the log, a plain line onto the page."""
    _log.error("A page failed.", exc_info=error)
    st.error(
        f"**This page has failed.** {type(error).__name__}. The trace is in the studio's log. "
        "Reload the page; the other pages work."
    )
    return True


def serve(app: Any, host: str, port: int) -> None:
    """Serves until a signal, and lets go of the port in order."""
    # uvicorn raises the signal again once it has ended; whoever waits for us is owed an exit code.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _ended)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        timeout_keep_alive=75,
        lifespan="on",
    )
    uvicorn.Server(config).run()


def _ended(number: int, frame: FrameType | None) -> None:
    """The end was asked for and has come."""


def main(arguments: list[str] | None = None) -> int:
    """`python -m studio.server`: what the supervisor starts."""
    parser = argparse.ArgumentParser(prog="python -m studio.server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--supervised", action="store_true", help="end when standard input ends")
    given = parser.parse_args(arguments)
    if given.supervised:
        when_parent_ends(lambda: os.kill(os.getpid(), signal.SIGTERM))
    serve(studio_app(), given.host, given.port)
    return 0


if __name__ == "__main__":
    sys.exit(main())
