"""Conductor's own clients, unmodified, against an engine in a process of its own: every client plays
the stories it can, and each story is a test."""

import itertools
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.clients.installed import Shelf
from tests.clients.official import CLIENTS, Client
from tests.clients.processes import Process, serving
from tests.clients.stories import WITH_CREDENTIALS

CREDENTIALS = {"CONDUCTOR_AUTH_KEY": "somebody", "CONDUCTOR_AUTH_SECRET": "anything"}
TOLD = "told"
Outcomes = dict[str, str]
Play = Callable[..., Outcomes]
"""The outcomes of a client's play, without credentials or with them."""
AT_A_TIME = 3


def outcomes(output: str) -> Outcomes:
    """What a program has said of each story: that it was told, or why it was not."""
    found = re.findall(r"^(told|broken) (\w+) ?(.*)$", output, re.MULTILINE)
    return {story: TOLD if word == TOLD else reason for word, story, reason in found}


def play(client: Client, shelf: Shelf, folder: Path, with_credentials: bool) -> Outcomes:
    """Let a client play on an engine of its own: all it knows, or what shows that credentials do
    not matter."""
    names, environment = (WITH_CREDENTIALS, CREDENTIALS) if with_credentials else ((), {})
    shared = folder / "shared"
    shared.mkdir()
    command = client.command(shelf, shared)
    with serving(folder) as engine:
        # The oldest SDK asks for its token at the address of the environment, whatever it is given.
        environment = {"CONDUCTOR_SERVER_URL": engine.url, **environment}
        program = Process([*command, engine.url, *names], environment)
        try:
            code = program.wait()
        finally:
            program.end()
    assert code == 0, program.output
    return outcomes(program.output)


@pytest.fixture(scope="module")
def played(
    request: pytest.FixtureRequest, shelf: Shelf, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Play]:
    """Every client whose tests were asked for plays its stories, and some of them once more with
    credentials. They wait more than they work, so several play at a time."""
    asked = {
        (item.callspec.params["client"], "credentials" in item.name)
        for item in request.session.items
        if isinstance(item, pytest.Function)
        # Other files may have a fixture of this name.
        and item.module is request.module
        and "played" in item.fixturenames
    }
    pool = ThreadPoolExecutor(AT_A_TIME)
    plays: dict[tuple[Client, bool], Future[Outcomes]] = {}
    for with_credentials, client in itertools.product((False, True), CLIENTS):
        if (client, with_credentials) in asked:
            folder = tmp_path_factory.mktemp("played")
            plays[client, with_credentials] = pool.submit(
                play, client, shelf, folder, with_credentials
            )
    yield lambda client, with_credentials=False: plays[client, with_credentials].result()
    pool.shutdown(cancel_futures=True)


def by_client(stories: bool) -> list[object]:
    """Every client, or every client with each of its stories."""
    if not stories:
        return [pytest.param(client, id=client.name) for client in CLIENTS]
    return [
        pytest.param(client, story, id=f"{client.name}-{story}")
        for client in CLIENTS
        for story in client.stories
    ]


@pytest.mark.parametrize(("client", "story"), by_client(stories=True))
def test_a_client_tells_its_story(client: Client, story: str, played: Play) -> None:
    reason = played(client).get(story, "it was not played")
    assert reason == TOLD, reason.replace("\\n", "\n")


@pytest.mark.parametrize("client", by_client(stories=False))
def test_a_client_tells_no_story_that_is_not_listed(client: Client, played: Play) -> None:
    assert sorted(played(client)) == sorted(client.stories)


@pytest.mark.parametrize("client", by_client(stories=False))
def test_credentials_are_no_obstacle_where_nobody_asks_for_them(
    client: Client, played: Play
) -> None:
    assert played(client, True) == dict.fromkeys(WITH_CREDENTIALS, TOLD)
