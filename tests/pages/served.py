"""An engine in this process behind the studio's client, with the samples and a desk of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import Settings
from studio import samples, session
from studio.client.client import Actor, Client
from studio.client.transport import in_process
from studio.desk import place


@contextmanager
def an_engine(desk_file: Path, setting: pytest.MonkeyPatch) -> Iterator[Client]:
    """The studio asks this engine and keeps its drafts on this desk until the end."""
    setting.setenv(place.FILE, str(desk_file))
    setting.setenv(session.PERSON, "ada")
    with Engine(Settings(database="memory:", evaluators=1, http_worker=False)) as engine:
        client = Client(in_process(create_app(engine)), name="test engine")
        assert samples.register(client, Actor("test")) == []
        session.use(lambda: client)
        yield client
        client.close()
    place.close()
