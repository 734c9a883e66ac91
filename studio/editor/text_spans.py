"""Where in the text a value of the definition stands, for jumping between picture and code.

The text is read without being trusted: what cannot be followed ends the search, nothing raises.
"""

import json
import re

from studio.editor.tree import Path

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+')

Span = tuple[int, int]


def spans(text: str) -> dict[Path, Span]:
    """For each object and list the first and the last character, counted from 0, end excluded."""
    found: dict[Path, Span] = {}
    open_: list[tuple[str, int, Path]] = []
    step: str | int | None = None
    before = ""
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in "{[":
            path: Path = () if not open_ else (*open_[-1][2], step if step is not None else 0)
            open_.append((word, token.start(), path))
            step = 0 if word == "[" else None
        elif word in "}]":
            if not open_:
                break
            _, start, path = open_.pop()
            found[path] = (start, token.end())
            step = path[-1] if path else None
        elif word == "," and open_:
            # In a list the comma leads to the next index, in an object to the next key.
            step = step + 1 if open_[-1][0] == "[" and isinstance(step, int) else None
        elif word == ":" and open_ and open_[-1][0] == "{":
            step = _key(before)
        before = word
    return found


def lines_of(text: str, path: Path) -> tuple[int, int] | None:
    """The first and last line of a value, counted from 1."""
    span = spans(text).get(tuple(path))
    if span is None:
        return None
    return text.count("\n", 0, span[0]) + 1, text.count("\n", 0, span[1] - 1) + 1


def path_at_line(text: str, line: int) -> Path | None:
    """The innermost task that a line belongs to."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    start = sum(len(earlier) + 1 for earlier in lines[: line - 1])
    start += len(lines[line - 1]) - len(lines[line - 1].lstrip())
    around = [
        path
        for path, (first, end) in spans(text).items()
        if first <= start < end and _is_task(path)
    ]
    return max(around, key=len, default=None)


def _is_task(path: Path) -> bool:
    """Its last step is an index, in a list of tasks."""
    if len(path) < 2 or not isinstance(path[-1], int):
        return False
    lists, named = ("tasks", "defaultCase", "loopOver"), ("decisionCases", "forkTasks")
    in_branch = len(path) > 2 and path[-3] in named
    return in_branch or (path[-2] in lists and "inputParameters" not in path)


def _key(token: str) -> str:
    try:
        key = json.loads(token)
    except ValueError:
        return token
    return key if isinstance(key, str) else token
