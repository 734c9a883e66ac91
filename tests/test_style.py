"""The settings of the tools in pyproject.toml hold for everything that is here."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_the_code_is_formatted() -> None:
    run("ruff", "format", "--check", ".")


def test_the_linter_has_no_complaint() -> None:
    run("ruff", "check", ".")


def test_the_types_hold() -> None:
    run("mypy", "engine", "studio")
