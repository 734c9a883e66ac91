"""The official clients: how each is made ready, and how its program is started."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.clients import stories
from tests.clients.installed import HERE, Shelf, jdk, run, tool

Command = list[str | Path]


class Client(Protocol):
    """One client in one version."""

    @property
    def name(self) -> str:
        """As the tests call it."""

    @property
    def stories(self) -> Sequence[str]:
        """What its program tells."""

    def command(self, shelf: Shelf, folder: Path) -> Command:
        """How its program is started, given a folder to write to; what follows is the address of a
        server, and the names of stories unless all are meant."""


@dataclass(frozen=True)
class Python:
    """conductor-python. The version that the tests themselves are installed with is `here`."""

    version: str
    style: str
    stories: Sequence[str]
    here: bool = False

    @property
    def name(self) -> str:
        return f"python {self.version}"

    def command(self, shelf: Shelf, folder: Path) -> Command:
        python = Path(sys.executable) if self.here else shelf.python(self.version)
        return [python, "-m", "tests.clients.python.play", self.style, folder]


@dataclass(frozen=True)
class JavaScript:
    """The JavaScript SDK, of the version in its package.json."""

    name: str = "javascript"
    stories: Sequence[str] = stories.JAVASCRIPT

    def command(self, shelf: Shelf, folder: Path) -> Command:
        return node(shelf, folder, "play.mjs")


@dataclass(frozen=True)
class Java:
    """The Java client, of the version in its pom.xml."""

    name: str = "java"
    stories: Sequence[str] = stories.JAVA

    def command(self, shelf: Shelf, folder: Path) -> Command:
        programs = jdk()
        jars = f"{shelf.jars(HERE / 'java' / 'pom.xml')}/*"
        run([programs / "javac", "-cp", jars, "-d", folder, *(HERE / "java").glob("*.java")])
        return [programs / "java", "-cp", f"{folder}:{jars}", "Play"]


def node(shelf: Shelf, folder: Path, program: str) -> Command:
    """How to run one of our JavaScript programs. Node looks for packages beside the file that asks
    for them, so the programs are copied to where the packages are linked."""
    runtime = tool("node", "the JavaScript SDK")
    programs = folder / "javascript"
    shutil.copytree(HERE / "javascript", programs)
    packages = shelf.node_modules(HERE / "javascript" / "package.json")
    (programs / "node_modules").symlink_to(packages)
    return [runtime, programs / program]


CLIENTS: tuple[Client, ...] = (
    Python("2.0.0", "decorated", stories.PYTHON_SINCE_1_3, here=True),
    Python("1.3.11", "decorated", stories.PYTHON_SINCE_1_3),
    Python("1.1.10", "plain", stories.PYTHON),
    JavaScript(),
    Java(),
)
