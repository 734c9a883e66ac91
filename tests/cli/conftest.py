"""One engine for all tests of the command line: each test uses names of its own."""

from collections.abc import Iterator

import pytest

from tests.cli.terminal import EngineTerminal


@pytest.fixture(scope="session")
def terminal() -> Iterator[EngineTerminal]:
    with EngineTerminal() as found:
        yield found
