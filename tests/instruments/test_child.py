import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from engine.instruments.child import Child, ChildGone, ChildSilent

ECHO = "import sys, os\nwhile b := os.read(0, 65536): os.write(1, b)"
DEAF = "import time\ntime.sleep(60)"
LOYAL = """
import os, time
from engine.instruments.child import when_parent_ends
when_parent_ends(lambda: os._exit(0))
print("ready", flush=True)
time.sleep(60)
"""
PARENT = """
import sys, time
from engine.instruments.child import Child
child = Child([sys.executable, "-c", sys.argv[1]], talks=True)
child.receive(6, time.monotonic() + 20)
print(child.pid, flush=True)
time.sleep(60)
"""


def a_child(program: str, talks: bool = True) -> Child:
    return Child([sys.executable, "-c", program], talks=talks)


def soon() -> float:
    return time.monotonic() + 20


def comes_true(condition: Callable[[], bool]) -> bool:
    end = soon()
    while not condition():
        if time.monotonic() > end:
            return False
        os.sched_yield()
    return True


def has_ended(pid: int) -> bool:
    """Gone, or waiting for somebody to ask how it ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as state:
            return state.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_child_gives_back_what_it_was_sent_whatever_its_size() -> None:
    data = os.urandom(1_000_000)
    with a_child(
        "import os, sys\nb = sys.stdin.buffer.read(1000000)\nsys.stdout.buffer.write(b)"
    ) as c:
        c.send(data, soon())
        assert c.receive(len(data), soon()) == data


def test_a_child_that_answers_late_is_reported_silent_and_lives() -> None:
    with a_child(DEAF) as child:
        with pytest.raises(ChildSilent):
            child.receive(1, time.monotonic() + 0.05)
        assert child.is_running


def test_sending_to_a_child_that_does_not_read_ends_at_the_deadline() -> None:
    with a_child(DEAF) as child, pytest.raises(ChildSilent):
        child.send(bytes(10_000_000), time.monotonic() + 0.2)


def test_a_child_that_died_is_reported_gone_and_says_how() -> None:
    with a_child(ECHO) as child:
        os.kill(child.pid, signal.SIGTERM)
        with pytest.raises(ChildGone):
            child.receive(1, soon())
        assert child.wait(20) == -signal.SIGTERM and child.ended_by() == "SIGTERM"
        with pytest.raises(ChildGone):
            child.send(b"x", soon())


def test_an_exit_code_is_told_in_words() -> None:
    with a_child("raise SystemExit(3)") as child:
        assert child.wait(20) == 3 and child.ended_by() == "exit code 3"


def test_killing_twice_is_harmless_and_leaves_nothing() -> None:
    child = a_child(DEAF)
    child.kill()
    child.close()
    child.close()
    assert not child.is_running and has_ended(child.pid)


def test_a_child_that_ignores_the_request_to_end_is_killed() -> None:
    stubborn = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint('ok', flush=True)\ntime.sleep(60)"
    child = a_child(stubborn)
    child.receive(3, soon())
    child.stop(grace_seconds=0.1)
    assert child.ended_by() == "SIGKILL"


def test_killing_a_child_kills_what_it_started() -> None:
    program = "import subprocess, sys, time\np = subprocess.Popen(['sleep', '60'])\nprint(f'{p.pid:9}', flush=True)\ntime.sleep(60)"
    with a_child(program) as child:
        grandchild = int(child.receive(10, soon()))
    assert comes_true(lambda: has_ended(grandchild))


def test_no_child_outlives_a_parent_that_was_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, LOYAL], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert not has_ended(child)
    parent.kill()
    parent.communicate()
    assert comes_true(lambda: has_ended(child))
