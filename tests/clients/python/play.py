"""Play stories with the conductor-python of this interpreter against a server.

    python -m tests.clients.python.play decorated|plain FOLDER URL [STORY ...]

Says `told STORY`, or `broken STORY` and why, on a line of its own for each; without names it plays
all that the style of the workers allows.
"""

import os
import sys
import traceback
from pathlib import Path

from tests.clients.processes import Process
from tests.clients.python import definition_stories, newer_stories, stories
from tests.clients.python.shop import Shop

ALL = (*definition_stories.ALL, *stories.ALL)
STORIES = {"plain": ALL, "decorated": (*ALL, *newer_stories.ALL)}


def main(style: str, folder: Path, url: str, names: list[str]) -> None:
    """Open the shop, send for its workers, and play."""
    shop = Shop(url, folder)
    shop.open()
    command = [sys.executable, "-m", f"tests.clients.python.{style}_workers", url, folder]
    workers = Process(command, os.environ)  # with the credentials, where there are any
    try:
        for story in STORIES[style]:
            if names and story.__name__ not in names:
                continue
            try:
                story(shop)
            except Exception:
                print(f"broken {story.__name__} {traceback.format_exc()!r}", flush=True)
            else:
                print(f"told {story.__name__}", flush=True)
    finally:
        workers.end()
        (folder / "workers.log").write_text(workers.output)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
