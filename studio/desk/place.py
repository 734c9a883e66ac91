"""The one desk of this process: where its file lies, opened when somebody first asks."""

import os
import threading
from pathlib import Path
from typing import Final

from studio.desk.desk import Desk

FILE: Final = "REPRISE_DESK"
DEFAULT_FILE: Final = "reprise-desk.db"

_lock: Final = threading.Lock()
_open: dict[Path, Desk] = {}


def desk() -> Desk:
    """The desk that the environment names (`REPRISE_DESK`), else the one in the working folder."""
    path = Path(os.environ.get(FILE) or DEFAULT_FILE).absolute()
    with _lock:
        if path not in _open:
            _open[path] = Desk(path)
        return _open[path]


def close() -> None:
    """Lets go of every file; the next question opens it again."""
    with _lock:
        while _open:
            _open.popitem()[1].close()
