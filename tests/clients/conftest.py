"""Where installed clients are kept: beside pytest's own cache, or for this run alone without it."""

import pytest

from tests.clients.installed import Shelf


@pytest.fixture(scope="session")
def shelf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    return Shelf(cache.mkdir("clients") if cache else tmp_path_factory.mktemp("clients"))
