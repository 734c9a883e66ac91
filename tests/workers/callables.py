"""Functions that a process of its own can import."""

import os
import threading
from pathlib import Path


def hang(place: str) -> None:
    """Tell who we are, then never end."""
    Path(place).write_text(str(os.getpid()))
    threading.Event().wait()


def process_id() -> int:
    """Where this runs."""
    return os.getpid()
