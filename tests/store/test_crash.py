"""A process that is killed amid its groups: what it acknowledged is there, the rest in whole."""

import subprocess
import sys
from itertools import islice

import pytest

from engine.store.database import open_store
from engine.store.upkeep import verify


@pytest.mark.parametrize("acknowledged", [1, 123])
def test_every_acknowledged_group_survives_a_kill(url: str, acknowledged: int) -> None:
    command = [sys.executable, "-m", "tests.store.writer", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        keys = [int(line) for line in islice(writer.stdout, acknowledged)]
        writer.kill()
        keys += [int(line) for line in writer.stdout]
    store = open_store(url)
    for key in keys:
        loaded = store.load(key, payloads=True)
        assert loaded is not None
        assert loaded.runs[0].output == b'{"n":"' + b"%d" % key * 3_000 + b'"}'
        assert (len(loaded.runs), loaded.execution.line) == (2, 2)
    assert verify(store) == []
    assert store.next_key() > max(keys)
    assert (store.next_key() - 2) % 5 == 0, "a group is stored whole or not at all"
    store.close()
