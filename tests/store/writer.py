"""A process that stores executions as fast as it can and tells which ones are acknowledged."""

import sys

from engine.model.execution import Changes
from engine.store.contract import Group, Written
from engine.store.database import open_store
from tests.store.builders import a_line, a_run, an_execution, created


def main(url: str) -> None:
    store = open_store(url)
    while True:
        group = Group()
        for _ in range(5):
            execution = an_execution(store)
            big = b'{"n":"' + b"%d" % execution.key * 3_000 + b'"}'
            group.written.append(
                created(
                    execution, a_run(execution, output=big), a_run(execution, 2), line=a_line(1)
                )
            )
            group.written.append(Written(execution, Changes(), ledger=a_line(2)))
        store.commit(group)
        for item in group.written[::2]:
            print(item.execution.key, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
