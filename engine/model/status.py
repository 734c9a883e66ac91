"""The statuses of tasks and executions: closed lists, their traits, and the moves they allow.

The words are Conductor's. Code asks for a trait ("is it terminal?"), never for three names.
"""

from enum import StrEnum
from typing import NamedTuple


class TaskStatus(StrEnum):
    """Where one attempt at one task stands."""

    SCHEDULED = "SCHEDULED"
    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"
    COMPLETED_WITH_ERRORS = "COMPLETED_WITH_ERRORS"
    SKIPPED = "SKIPPED"
    FAILED = "FAILED"
    FAILED_WITH_TERMINAL_ERROR = "FAILED_WITH_TERMINAL_ERROR"
    TIMED_OUT = "TIMED_OUT"
    CANCELED = "CANCELED"

    terminal: bool
    """Nothing more will happen to this attempt."""
    successful: bool
    """Open states count as successful: only an end can be a failure."""
    retriable: bool
    """An automatic retry may follow."""
    bad: bool
    """Terminal and not successful."""


class ExecutionStatus(StrEnum):
    """Where an execution stands."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    TERMINATED = "TERMINATED"

    terminal: bool
    successful: bool


class Traits(NamedTuple):
    terminal: bool
    successful: bool
    retriable: bool


TASK_TRAITS = {
    TaskStatus.SCHEDULED: Traits(terminal=False, successful=True, retriable=True),
    TaskStatus.IN_PROGRESS: Traits(terminal=False, successful=True, retriable=True),
    TaskStatus.COMPLETED: Traits(terminal=True, successful=True, retriable=True),
    TaskStatus.COMPLETED_WITH_ERRORS: Traits(terminal=True, successful=True, retriable=True),
    TaskStatus.SKIPPED: Traits(terminal=True, successful=True, retriable=False),
    TaskStatus.FAILED: Traits(terminal=True, successful=False, retriable=True),
    TaskStatus.FAILED_WITH_TERMINAL_ERROR: Traits(terminal=True, successful=False, retriable=False),
    TaskStatus.TIMED_OUT: Traits(terminal=True, successful=False, retriable=True),
    TaskStatus.CANCELED: Traits(terminal=True, successful=False, retriable=False),
}

EXECUTION_TRAITS = {
    ExecutionStatus.RUNNING: (False, False),
    ExecutionStatus.PAUSED: (False, True),
    ExecutionStatus.COMPLETED: (True, True),
    ExecutionStatus.FAILED: (True, False),
    ExecutionStatus.TIMED_OUT: (True, False),
    ExecutionStatus.TERMINATED: (True, False),
}

# Traits live on the members themselves: a hot path reads an attribute, not a table.
for _status, _traits in TASK_TRAITS.items():
    _status.terminal, _status.successful, _status.retriable = _traits
    _status.bad = _traits.terminal and not _traits.successful
for _state, (_terminal, _successful) in EXECUTION_TRAITS.items():
    _state.terminal, _state.successful = _terminal, _successful

TASK_OPEN = frozenset(s for s in TaskStatus if not s.terminal)
EXECUTION_LIVE = frozenset(s for s in ExecutionStatus if not s.terminal)

REPORTABLE = frozenset(
    {
        TaskStatus.IN_PROGRESS,
        TaskStatus.COMPLETED,
        TaskStatus.FAILED,
        TaskStatus.FAILED_WITH_TERMINAL_ERROR,
        TaskStatus.CANCELED,
    }
)
"""What a worker may report; the other statuses are made by the engine."""

_ENDS = {s for s in TaskStatus if s.terminal and s is not TaskStatus.SKIPPED}
TASK_MOVES: dict[TaskStatus, frozenset[TaskStatus]] = {
    TaskStatus.SCHEDULED: frozenset({TaskStatus.IN_PROGRESS, TaskStatus.SCHEDULED} | _ENDS),
    TaskStatus.IN_PROGRESS: frozenset({TaskStatus.IN_PROGRESS, TaskStatus.SCHEDULED} | _ENDS),
    # An optional task that failed for good counts as done, with errors.
    TaskStatus.FAILED: frozenset({TaskStatus.COMPLETED_WITH_ERRORS}),
    TaskStatus.FAILED_WITH_TERMINAL_ERROR: frozenset({TaskStatus.COMPLETED_WITH_ERRORS}),
    TaskStatus.TIMED_OUT: frozenset({TaskStatus.COMPLETED_WITH_ERRORS}),
    TaskStatus.CANCELED: frozenset({TaskStatus.COMPLETED_WITH_ERRORS}),
    TaskStatus.COMPLETED: frozenset(),
    TaskStatus.COMPLETED_WITH_ERRORS: frozenset(),
    TaskStatus.SKIPPED: frozenset(),
}
"""The moves a running execution makes by itself; a recovery may reopen an ended attempt."""
