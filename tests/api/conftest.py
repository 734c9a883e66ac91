"""One engine for all tests of the door: each test uses names of its own."""

from collections.abc import Iterator

import pytest

from tests.api.door import Door


@pytest.fixture(scope="session")
def door() -> Iterator[Door]:
    with Door() as found:
        yield found
