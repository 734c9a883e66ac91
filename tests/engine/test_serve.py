"""`python -m engine serve`: it serves, ends on a signal, and says in one line why it cannot start."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

HOUSE = Path(__file__).parents[2]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "engine", "serve", *arguments]


def refused(*arguments: str) -> str:
    """The one line it leaves when it cannot start."""
    done = subprocess.run(
        command("--port", "0", *arguments), cwd=HOUSE, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


class Served:
    """A running engine process."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            command("--port", "0", "--database", f"sqlite:///{folder / 'r.db'}"),
            cwd=HOUSE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert "listening on " in line, line
        self.url = line.rpartition(" ")[2].strip()
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            self.log.extend(lines)

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self._reader.join()
        return code


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    found = Served(folder)
    try:
        yield found
    finally:
        found.end()


def test_it_serves_and_ends_on_a_signal_with_success(tmp_path: Path) -> None:
    with served(tmp_path) as engine:
        definition = {
            "name": "w",
            "ownerEmail": "a@b.test",
            "timeoutSeconds": 0,
            "tasks": [{"name": "n", "taskReferenceName": "n", "type": "NOOP"}],
        }
        with httpx.Client(base_url=engine.url, trust_env=False) as client:
            assert client.get("/health").json()["healthy"] is True
            client.post("/api/metadata/workflow", json=definition).raise_for_status()
            name = client.post("/api/workflow/w", json={}).text
            assert client.get(f"/api/workflow/{name}").json()["status"] == "COMPLETED"
        assert engine.end() == 0
    assert not [line for line in engine.log if "Traceback" in line]


def test_it_ends_soon_on_a_signal_however_many_ask_at_that_moment(tmp_path: Path) -> None:
    """Long polls, synchronous starts and a crowd of readers: none of them keeps the process."""
    definition = {
        "name": "w",
        "ownerEmail": "a@b.test",
        "timeoutSeconds": 0,
        "tasks": [{"name": "n", "taskReferenceName": "n", "type": "SIMPLE"}],
    }
    over = threading.Event()
    answers: list[int] = []

    def ask(method: str, path: str, **given: Any) -> None:
        with httpx.Client(base_url=engine.url, trust_env=False, timeout=60) as client:
            while not over.is_set():
                try:
                    answers.append(client.request(method, path, **given).status_code)
                except httpx.HTTPError:
                    # Refused or cut off: it stops.
                    over.wait(0.05)

    with served(tmp_path) as engine:
        with httpx.Client(base_url=engine.url, trust_env=False) as client:
            client.post("/api/metadata/workflow", json=definition).raise_for_status()
            shown = f"/api/ext/executions/{client.post('/api/workflow/w', json={}).text}/outline"
        poll = "/api/tasks/poll/batch/other?count=5&timeout=5000"
        execute = "/api/workflow/execute/w/1?waitForSeconds=60"
        asking = [threading.Thread(target=ask, args=("GET", poll)) for _ in range(4)]
        asking += [threading.Thread(target=ask, args=("GET", shown)) for _ in range(24)]
        for thread in asking:
            thread.start()
        asking += [
            threading.Thread(target=ask, args=("POST", execute), kwargs={"json": {"name": "w"}})
            for _ in range(4)
        ]
        for thread in asking[-4:]:
            thread.start()
        try:
            while len(answers) < 200:
                over.wait(0.05)
            engine.process.send_signal(signal.SIGTERM)
            assert engine.process.wait(30) == 0
        finally:
            over.set()
            engine.process.kill()
            for thread in asking:
                thread.join()
    assert 500 not in answers
    assert not [line for line in engine.log if "Traceback" in line]


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        line = refused("--port", port, "--database", f"sqlite:///{tmp_path / 'r.db'}")
    assert f"cannot listen on 127.0.0.1:{port}" in line and "--port" in line
    assert not (tmp_path / "r.db").exists()


def test_a_database_of_another_engine_is_named(tmp_path: Path) -> None:
    with served(tmp_path) as engine:
        line = refused("--database", f"sqlite:///{tmp_path / 'r.db'}")
    assert f"in use by process {engine.process.pid}" in line


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "other.db"
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    before = place.read_bytes()
    assert "another program" in refused("--database", f"sqlite:///{place}")
    assert place.read_bytes() == before
    assert os.listdir(tmp_path) == ["other.db"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--database", "mysql://a/b"), "sqlite:///path"),
        (("--database", "memory:", "--durability", "SOME"), "durability is 'SOME'"),
        (("--database", "sqlite:////no/such/folder/r.db"), "no folder"),
    ],
)
def test_what_cannot_be_is_refused_with_advice(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(*arguments)
