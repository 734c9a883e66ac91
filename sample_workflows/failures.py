"""How a sample worker fails: for good, or only the first few times it is asked.

Nothing of the engine comes in here: a sample worker is a plain function, and an exception is all
it needs to say that it failed.
"""

from collections import Counter
from threading import Lock


class GivenUp(Exception):
    """The work cannot succeed with this input, so trying again would be pointless."""

    terminal = True


_calls: Counter[str] = Counter()
_guard = Lock()


def fail_first_calls(key: str, times: int, reason: str) -> None:
    """Raise `reason` for the first `times` calls with this key, then let every call pass.

    The count lives in this process, so a sample can show an outage that ends by itself.
    """
    with _guard:
        _calls[key] += 1
        call = _calls[key]
    if call <= times:
        raise ConnectionError(reason)
