"""The official clients as their registries deliver them, in folders that are made once and kept.

A tool that is missing fails the tests where CI is set, and skips them elsewhere; only the Java
client's may go without: they need a JDK that not every machine offers.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

HERE = Path(__file__).parent
OLDEST_JDK = 21
INSTALLING_SECONDS = 300


def tool(name: str, purpose: str) -> Path:
    """Where a program is that is needed for this."""
    found = shutil.which(name)
    if found is None:
        missing = f"{name} is not installed, and {purpose} needs it"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return Path(found)


def jdk() -> Path:
    """The folder of the programs of a JDK that is new enough."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    compiler = shutil.which("javac")
    homes += [Path(compiler).resolve().parents[1]] if compiler else []
    homes += sorted(Path("/usr/lib/jvm").glob("*"))
    for home in homes:
        if (home / "bin" / "javac").exists() and java_version(home) >= OLDEST_JDK:
            return home / "bin"
    pytest.skip(f"the Java client needs a JDK of {OLDEST_JDK} or newer, and there is none")


def java_version(home: Path) -> int:
    """The feature number of a JDK; 0 if it does not say."""
    said = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True)
    number = re.search(r'version "(\d+)', said.stderr)
    return int(number[1]) if number else 0


def run(command: Sequence[str | Path], folder: Path = HERE) -> None:
    """Run a command; its output is in the error if it fails."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=INSTALLING_SECONDS
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"


class Shelf:
    """Where installed clients are kept from one run of the tests to the next."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._one_at_a_time = threading.Lock()

    def _kept(self, name: str, *pins: str, make: Callable[[Path], None]) -> Path:
        """A folder that `make` has filled, for these pins. It appears whole or not at all, so that
        two runs at a time, or one that is broken off, do no harm."""
        digest = hashlib.sha256("\0".join([sys.version, *pins]).encode()).hexdigest()[:12]
        place = self._folder / f"{name}-{digest}"
        with self._one_at_a_time:
            if not place.exists():
                draft = Path(tempfile.mkdtemp(dir=self._folder))
                make(draft)
                with suppress(OSError):  # somebody else may have made it meanwhile
                    draft.rename(place)
        return place

    def python(self, version: str) -> Path:
        """An interpreter with conductor-python of this version and nothing else."""
        package = f"conductor-python=={version}"

        def make(place: Path) -> None:
            run([sys.executable, "-m", "venv", place])
            run([place / "bin" / "python", "-m", "pip", "install", "-q", package])

        return self._kept("python", package, make=make) / "bin" / "python"

    def node_modules(self, package: Path) -> Path:
        """What a package.json asks for. The JavaScript SDK's optional peers contradict each other,
        hence the flag."""
        npm = tool("npm", "the JavaScript SDK")

        def make(place: Path) -> None:
            shutil.copy(package, place)
            run([npm, "install", "--legacy-peer-deps", "--no-audit", "--no-fund"], place)

        return self._kept("javascript", package.read_text(), make=make) / "node_modules"

    def jars(self, pom: Path) -> Path:
        """What a pom.xml asks for."""
        maven = tool("mvn", "the Java client")

        def make(place: Path) -> None:
            where = f"-DoutputDirectory={place}"
            run([maven, "-q", "-B", "-f", pom, "dependency:copy-dependencies", where])

        return self._kept("java", pom.read_text(), make=make)
