"""Payloads as files: what clients name by path counts as if it were inline, and is shown as a path."""

import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.instruments.telemetry import Telemetry
from engine.model.errors import Conflict, InvalidInput, NotFound, TooLarge
from engine.model.events import Result
from engine.model.facts import Limits
from engine.model.record import decode
from engine.model.requests import RerunRequest, StartWorkflowRequest, TaskResult
from engine.model.status import TaskStatus
from engine.rules.rendering import workflow_json
from engine.services.payloads import Payloads
from engine.store.folder import Folder
from engine.store.memory import MemoryStore
from tests.services.engine_room import EngineRoom

NOW = 1_700_000_000_000
FOLLOWING = [
    {"name": "work", "taskReferenceName": "work", "inputParameters": {"in": "${workflow.input.n}"}},
    {"name": "next", "taskReferenceName": "next", "inputParameters": {"got": "${work.output.n}"}},
]


def folder_of(place: Path, **how: Any) -> Payloads:
    limits = Limits(task_payload=200, workflow_payload=300)
    return Payloads(Folder(place / "payloads"), limits, **how)


def room_with(payloads: Payloads | None, limits: Limits | None = None) -> EngineRoom:
    room = EngineRoom(MemoryStore(), NOW, payloads=payloads, limits=limits)
    room.register("flow", *FOLLOWING)
    return room


def started(room: EngineRoom, **request: Any) -> str:
    return room.executions.start(StartWorkflowRequest(name="flow", **request))


def stored(payloads: Payloads, kind: str, value: dict[str, Any]) -> str:
    """Leave a payload as a client does; its path."""
    path = payloads.location("WRITE", kind, None)
    payloads.write(path, value)
    return path


def sent(document: dict[str, Any]) -> dict[str, Any]:
    """A document as it comes through the door."""
    found: dict[str, Any] = orjson.loads(orjson.dumps(document))
    return found


def reported(
    room: EngineRoom, workflow_id: str, status: str = "COMPLETED", **more: Any
) -> dict[str, Any]:
    """Poll for `work`, report on it, and see what became of it."""
    task = room.tasks.poll("work")[0]
    room.tasks.update(
        TaskResult.read(
            {
                "taskId": task["taskId"],
                "workflowInstanceId": workflow_id,
                "status": status,
                **more,
            }
        )
    )
    return sent(room.task(workflow_id, "work"))


def test_an_output_named_by_path_feeds_the_next_task_and_is_shown_as_the_path(
    tmp_path: Path,
) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads)
    workflow_id = started(room)
    path = stored(payloads, "TASK_OUTPUT", {"n": 7})

    shown = reported(room, workflow_id, externalOutputPayloadStoragePath=path)

    assert shown["externalOutputPayloadStoragePath"] == path
    assert shown["outputData"] == {}
    assert room.tasks.poll("next")[0]["inputData"] == {"got": 7}


def test_an_input_named_by_path_feeds_the_first_task_and_is_shown_as_the_path(
    tmp_path: Path,
) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads)
    path = stored(payloads, "WORKFLOW_INPUT", {"n": 8})

    workflow_id = started(room, external_input_payload_storage_path=path)

    shown = sent(room.executions.get(workflow_id))
    assert shown["externalInputPayloadStoragePath"] == path
    assert shown["input"] == {}
    assert room.tasks.poll("work")[0]["inputData"] == {"in": 8}


def test_an_execution_goes_on_when_its_files_are_gone(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads)
    path = stored(payloads, "WORKFLOW_INPUT", {"n": 8})
    started(room, external_input_payload_storage_path=path)

    (tmp_path / "payloads" / path).unlink()

    assert room.tasks.poll("work")[0]["inputData"] == {"in": 8}


def test_a_failure_workflow_is_given_what_was_named_by_path(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads)
    path = stored(payloads, "WORKFLOW_INPUT", {"n": 8})
    workflow_id = started(room, external_input_payload_storage_path=path)

    inside = sent(workflow_json(room.executions.view(workflow_id), unmasked=True))

    assert inside["input"] == {"n": 8}
    assert "externalInputPayloadStoragePath" not in inside


def test_a_definition_with_masked_fields_shows_them_masked_and_no_path(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads)
    definition = room.definitions["flow"]
    room.definitions["flow"] = definition.but(masked_fields=("n",))
    room.core.knowledge.changed()
    path = stored(payloads, "WORKFLOW_INPUT", {"n": 8, "m": 1})
    workflow_id = started(room, external_input_payload_storage_path=path)

    shown = sent(room.executions.get(workflow_id))

    assert "externalInputPayloadStoragePath" not in shown
    assert shown["input"]["m"] == 1
    assert shown["input"]["n"] != 8


def test_an_output_above_the_threshold_becomes_a_file_named_by_its_content(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path, task_threshold=50)
    room = room_with(payloads)
    large = {"n": "x" * 60}

    shown = reported(room, started(room), outputData=large)

    path = shown["externalOutputPayloadStoragePath"]
    assert path.startswith("content_")
    assert shown["outputData"] == {}
    assert decode(payloads.read(path)) == large
    assert room.tasks.poll("next")[0]["inputData"] == {"got": large["n"]}


def test_an_output_at_the_threshold_stays_inline(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path, task_threshold=len('{"n":1234567}'))
    room = room_with(payloads)

    shown = reported(room, started(room), outputData={"n": 1234567})

    assert shown["outputData"] == {"n": 1234567}
    assert "externalOutputPayloadStoragePath" not in shown


def test_an_input_above_the_threshold_becomes_a_file(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path, workflow_threshold=50)
    room = room_with(payloads)

    shown = sent(room.executions.get(started(room, input={"n": "x" * 60})))

    assert decode(payloads.read(shown["externalInputPayloadStoragePath"])) == {"n": "x" * 60}
    assert room.tasks.poll("work")[0]["inputData"] == {"in": "x" * 60}


def test_without_a_folder_large_payloads_stay_inline() -> None:
    payloads = Payloads(None, task_threshold=5, workflow_threshold=5)
    result = Result(seq=1, status=TaskStatus.COMPLETED, output=b'{"n":12345}')
    assert payloads.lightened(result) is result


def test_what_is_yet_to_be_merged_stays_inline(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path, task_threshold=5)
    result = Result(seq=1, status=TaskStatus.COMPLETED, output=b'{"n":12345}', merge=True)
    assert payloads.lightened(result) is result


def test_an_output_in_a_file_is_held_to_the_limit_with_its_reason(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads, Limits(task_payload=20))
    workflow_id = started(room)
    path = stored(payloads, "TASK_OUTPUT", {"n": "x" * 60})

    shown = reported(room, workflow_id, externalOutputPayloadStoragePath=path)

    assert shown["status"] == "FAILED_WITH_TERMINAL_ERROR"
    assert "greater than the permissible limit: 20 bytes" in shown["reasonForIncompletion"]
    assert "externalOutputPayloadStoragePath" not in shown


def test_an_input_in_a_file_is_held_to_the_limit_with_its_reason(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads, Limits(workflow_payload=20))
    path = stored(payloads, "WORKFLOW_INPUT", {"n": "x" * 60})
    with pytest.raises(TooLarge, match="greater than the permissible limit: 20 bytes"):
        started(room, external_input_payload_storage_path=path)


def test_a_later_report_without_a_path_shows_its_own_output(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads)
    workflow_id = started(room)
    path = stored(payloads, "TASK_OUTPUT", {"n": 1})
    half = reported(room, workflow_id, "IN_PROGRESS", externalOutputPayloadStoragePath=path)
    assert half["externalOutputPayloadStoragePath"] == path

    done = reported(room, workflow_id, outputData={"n": 2})

    assert done["outputData"] == {"n": 2}
    assert "externalOutputPayloadStoragePath" not in done


def test_a_worker_is_handed_the_path_of_what_it_has_reported_so_far(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads)
    workflow_id = started(room)
    path = stored(payloads, "TASK_OUTPUT", {"n": 1})
    reported(room, workflow_id, "IN_PROGRESS", externalOutputPayloadStoragePath=path)

    again = room.tasks.poll("work")[0]

    assert (again["externalOutputPayloadStoragePath"], again["outputData"]) == (path, {})


def test_a_rerun_with_another_input_shows_that_input(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    room = room_with(payloads)
    path = stored(payloads, "WORKFLOW_INPUT", {"n": 8})
    workflow_id = started(room, external_input_payload_storage_path=path)
    room.executions.terminate(workflow_id)

    room.executions.rerun(workflow_id, RerunRequest(workflow_input={"n": 9}))

    shown = sent(room.executions.get(workflow_id))
    assert shown["input"] == {"n": 9}
    assert "externalInputPayloadStoragePath" not in shown


def test_a_report_by_path_is_refused_where_there_is_no_folder() -> None:
    room = room_with(None)
    workflow_id = started(room)
    path = f"task_output_{'0' * 32}.json"
    with pytest.raises(InvalidInput, match="followed: External payload storage is not set up"):
        reported(room, workflow_id, externalOutputPayloadStoragePath=path)


def test_a_start_by_a_path_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    room = room_with(folder_of(tmp_path))
    path = f"workflow_input_{'0' * 32}.json"
    with pytest.raises(InvalidInput, match=f"No payload found by path: {path}"):
        started(room, external_input_payload_storage_path=path)


def test_a_file_that_was_spoilt_by_hand_is_refused(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    path = stored(payloads, "WORKFLOW_INPUT", {"n": 1})
    (tmp_path / "payloads" / path).write_bytes(b'{"n":')
    with pytest.raises(InvalidInput, match="holds no JSON object"):
        started(room_with(payloads), external_input_payload_storage_path=path)


@pytest.mark.parametrize(
    "path",
    ["../secret.json", "/etc/passwd", "task_output_1.json", "content_..json", "a\0b", ".x.part"],
)
def test_a_name_of_another_form_never_reaches_the_disk(tmp_path: Path, path: str) -> None:
    payloads = folder_of(tmp_path)
    with pytest.raises(InvalidInput, match="has not given out"):
        payloads.read(path)
    with pytest.raises(InvalidInput, match="has not given out"):
        payloads.write(path, {})
    with pytest.raises(InvalidInput, match="cannot write to"):
        payloads.location("WRITE", "TASK_OUTPUT", path)


def test_what_is_named_by_its_content_cannot_be_written_by_a_client(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot write to"):
        folder_of(tmp_path).write(f"content_{'0' * 32}.json", {})


def test_writing_again_is_harmless_and_writing_over_is_refused(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    path = stored(payloads, "TASK_OUTPUT", {"n": 1})
    payloads.write(path, {"n": 1})
    with pytest.raises(Conflict, match="with other content"):
        payloads.write(path, {"n": 2})
    assert decode(payloads.read(path)) == {"n": 1}
    assert os.listdir(tmp_path / "payloads") == [path]


def test_a_payload_above_the_limit_of_its_kind_is_not_stored(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path)
    large = {"n": "x" * 250}
    with pytest.raises(TooLarge, match="permissible limit: 200 bytes"):
        stored(payloads, "TASK_OUTPUT", large)
    assert os.listdir(tmp_path / "payloads") == []
    assert payloads.read(stored(payloads, "WORKFLOW_INPUT", large))


def test_a_secret_is_masked_before_the_file_is_written(tmp_path: Path) -> None:
    payloads = folder_of(tmp_path, clean=lambda data: data.replace(b"hunter2", b"***"))
    path = stored(payloads, "TASK_OUTPUT", {"n": "hunter2"})
    assert decode(payloads.read(path)) == {"n": "***"}


def test_an_output_stays_inline_and_operators_are_told_when_the_disk_fails(tmp_path: Path) -> None:
    told: list[str] = []
    telemetry = Telemetry()
    telemetry.listen(lambda what, facts: told.append(what))
    payloads = folder_of(tmp_path, task_threshold=5, telemetry=telemetry)
    (tmp_path / "payloads").rmdir()
    result = Result(seq=1, status=TaskStatus.COMPLETED, output=b'{"n":12345}')

    assert payloads.lightened(result) == result

    assert told == ["payload.kept_inline"]


def test_a_folder_that_cannot_be_made_is_refused_by_its_setting(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(InvalidInput, match="which cannot be made"):
        Folder(tmp_path / "taken" / "payloads")


def test_reading_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="No payload found"):
        folder_of(tmp_path).location("READ", "TASK_INPUT", f"task_input_{'0' * 32}.json")
