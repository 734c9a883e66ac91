"""A store in memory that fails when it is told to."""

from collections.abc import Callable

from engine.store.contract import Group, RowRefused, StoreFailed
from engine.store.memory import MemoryStore


class FaultyStore(MemoryStore):
    """Everything works until somebody breaks it."""

    def __init__(self) -> None:
        super().__init__()
        self.failures = 0
        """So many of the next groups are not stored."""
        self.in_doubt = False
        """A failing group is stored all the same, and nobody learns of it."""
        self.refuses: Callable[[Group], bool] = lambda group: False
        """Which groups hold a row that cannot be stored."""
        self.groups: list[Group] = []

    def commit(self, group: Group) -> None:
        if self.refuses(group):
            raise RowRefused("a number is too large")
        if self.failures > 0:
            self.failures -= 1
            if self.in_doubt:
                super().commit(group)
            raise StoreFailed("the disk is full")
        super().commit(group)
        self.groups.append(group)
