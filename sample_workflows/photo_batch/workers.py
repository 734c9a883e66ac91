"""Shrinks one photo, in figures only: no image is read or written."""

from typing import Any

from sample_workflows.failures import GivenUp, fail_first_calls


def resize_photo(task: dict[str, Any]) -> dict[str, Any]:
    photo, width = task["photo"], task["width"]
    if not photo.endswith(".jpg"):
        raise GivenUp(f"{photo} is not a JPEG photo.")
    if photo == task["unreadableOnce"]:
        key = f"resize_photo/{task['runId']}/{photo}"
        fail_first_calls(key, 1, f"The photo store did not answer while reading {photo}.")
    stem = photo.removesuffix(".jpg")
    return {"file": f"{stem}-{width}.jpg", "kilobytes": width // 8 + len(stem)}


WORKERS = {"resize_photo": resize_photo}
