"""A reporting service that needs a while: start an export, ask for it, share it."""

from typing import Any


def start_export(task: dict[str, Any]) -> dict[str, Any]:
    return {"exportId": f"{task['report']}-{task['month']}"}


def check_export(task: dict[str, Any]) -> dict[str, Any]:
    poll, needed = task["poll"], task["readyAfterPolls"]
    if poll < needed:
        return {"state": "running", "percent": 100 * poll // needed}
    return {"state": "ready", "percent": 100, "file": f"{task['exportId']}.csv"}


def share_export(task: dict[str, Any]) -> dict[str, Any]:
    return {"message": f"{task['file']} is in the finance folder."}


WORKERS = {
    "start_export": start_export,
    "check_export": check_export,
    "share_export": share_export,
}
