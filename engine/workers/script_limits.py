"""What one script may take, and the words for having taken more: shared by the two ends of the pipe.
It imports nothing, because the evaluator process must start fast."""

from dataclasses import dataclass

LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """What one script may take. `process_bytes` is for the whole evaluator, `heap_bytes` for a script."""

    seconds: float = 4.0
    heap_bytes: int = 64 * 1024 * 1024
    process_bytes: int = 512 * 1024 * 1024
    output_bytes: int = 4 * 1024 * 1024
    input_bytes: int = 16 * 1024 * 1024


def error_text(detail: str, line: int | None = None) -> str:
    where = "" if line is None else f" at line {line}"
    return f"Error evaluating the script `{detail}`{where}"


def time_limit_text(limits: Limits) -> str:
    return f"Script not evaluated within {limits.seconds:g} seconds, interrupted."


def too_large_text(limits: Limits) -> str:
    return error_text(f"the result is larger than {limits.output_bytes} bytes of JSON")


def memory_text(limits: Limits) -> str:
    return error_text(f"the script needed more than {limits.heap_bytes // 2**20} MB of memory")
