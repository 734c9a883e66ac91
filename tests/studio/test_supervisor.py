"""The supervisor: ports that are taken, children that die, and how it ends."""

import os
import socket
import sys
from collections.abc import Iterator

import pytest

from studio import supervisor
from studio.supervisor import BadStart, Member, need_port

READS_TO_THE_END = "import sys; sys.stdin.read()"


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        found.listen(1)
        yield found.getsockname()[1]


def a_member(script: str) -> Member:
    return Member("child", [sys.executable, "-c", script], dict(os.environ))


def died(member: Member) -> None:
    member.start()
    assert member.child is not None
    member.child.wait(20)
    assert member.is_dead


def test_a_port_that_is_taken_is_named_with_the_way_out(taken: int) -> None:
    with pytest.raises(BadStart, match=f"127.0.0.1:{taken}: .* another with --port"):
        need_port("127.0.0.1", taken, "--port")


@pytest.mark.parametrize("port", [-1, 99_999])
def test_a_port_that_cannot_be_is_one_line_too(port: int) -> None:
    with pytest.raises(BadStart, match=f":{port}: .*0-65535.* another with --port"):
        need_port("127.0.0.1", port, "--port")


def test_a_taken_port_is_one_line_and_a_code(
    taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert supervisor.main(["--port", str(taken), "--no-browser"]) == supervisor.BAD_START
    assert capsys.readouterr().err.count("\n") == 1


def test_options_that_exclude_each_other_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code = supervisor.main(["--one-process", "--server", "http://elsewhere"])
    assert code == supervisor.BAD_START
    assert "--one-process" in capsys.readouterr().err


def test_a_dead_child_is_started_again_after_pauses_that_grow() -> None:
    member = a_member("raise SystemExit(3)")
    pauses = []
    for now in (0.0, 1.0, 2.0, 3.0):
        died(member)
        pauses.append(member.bury(now))
    assert pauses == [0.5, 1.0, 2.0, 4.0]
    assert member.start_at == 7.0


def test_five_deaths_within_a_minute_are_too_many() -> None:
    member = a_member("raise SystemExit(3)")
    member.deaths = [1.0, 2.0, 3.0, 4.0]
    died(member)
    with pytest.raises(BadStart, match="5 times within a minute, last by exit code 3"):
        member.bury(5.0)


def test_old_deaths_are_forgotten() -> None:
    member = a_member("raise SystemExit(3)")
    member.deaths = [1.0, 2.0, 3.0, 4.0]
    died(member)
    assert member.bury(200.0) == 0.5


def test_a_child_is_stopped_and_forgotten() -> None:
    member = a_member(READS_TO_THE_END)
    member.start()
    assert not member.is_dead
    member.stop()
    assert member.child is None
    member.stop()
