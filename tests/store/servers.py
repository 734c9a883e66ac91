"""A private PostgreSQL cluster in a temporary folder, on a free port of the loopback."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_VERSIONS = Path("/usr/lib/postgresql")


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is not None:
        return found
    places = sorted(_VERSIONS.glob(f"*/bin/{name}"))
    assert places, f"these tests need PostgreSQL's {name}: install postgresql"
    return str(places[-1])


def _run(*command: str) -> None:
    """The server refuses to run as root; its own user does."""
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*as_user, *command],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a running server that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="reprise-pg-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    data, port = folder / "data", _free_port()
    try:
        _run(
            _program("initdb"), "-D", str(data), "-A", "trust", "-U", "reprise",
            "--no-sync", "-E", "UTF8", "--locale=C.UTF-8",
        )  # fmt: skip
        options = (
            f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} "
            "-c fsync=off -c max_connections=100"
        )
        control = _program("pg_ctl")
        _run(control, "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://reprise@127.0.0.1:{port}/postgres"
        finally:
            _run(control, "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
