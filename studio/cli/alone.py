"""An engine for one command: in this process, in memory, gone with it. It calls nobody outside.

With `doors`, the only room of the command line that may know how an engine is made.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import Settings
from studio.client.client import Client
from studio.client.transport import in_process


@contextmanager
def engine_of_our_own() -> Iterator[Client]:
    """A client of a fresh engine."""
    settings = Settings(database="memory:", evaluators=1, worker_threads=1, http_worker=False)
    with (
        Engine(settings) as engine,
        closing(Client(in_process(create_app(engine)), "this command's own engine")) as client,
    ):
        yield client
