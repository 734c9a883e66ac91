"""Plays one scenario on a stage."""

import re
from typing import Any, Protocol

from tests.scenarios.language import (
    Json,
    Mismatch,
    Refused,
    check_task,
    describe,
    full_definition,
    plain,
    require_subset,
    with_ids,
)

TERMINAL = frozenset(
    [
        "COMPLETED",
        "FAILED",
        "TIMED_OUT",
        "CANCELED",
        "SKIPPED",
        "FAILED_WITH_TERMINAL_ERROR",
        "COMPLETED_WITH_ERRORS",
    ]
)


OURS = {500: (400, 409)}
"""Conductor answers 500 where a request can never succeed or does not fit the state of an
execution; that is no fault of the server, so here it is a bad request or a conflict."""


class Stage(Protocol):
    """What a scenario is played on."""

    def register(self, definition: dict[str, Json]) -> None: ...
    def register_task(self, definition: dict[str, Json]) -> None: ...
    def register_handler(self, handler: dict[str, Json]) -> None: ...
    def start(self, request: dict[str, Json]) -> str: ...
    def execution(self, workflow_id: str) -> dict[str, Json]: ...
    def poll(
        self, task_type: str, worker: str, domain: str | None, count: int
    ) -> list[dict[str, Json]]: ...
    def report(self, result: dict[str, Json]) -> None: ...
    def verb(self, verb: str, workflow_id: str, **options: Json) -> None: ...
    def test(self, request: dict[str, Json]) -> dict[str, Json]: ...
    def deliver(self, event: str, payload: Json) -> None: ...
    def event_executions(self) -> list[list[str]]: ...
    def count(self, name: str) -> int: ...
    def queue_size(self, name: str) -> int: ...
    def advance(self, seconds: float) -> None: ...
    def settle(self) -> None: ...


class Player:
    """The state of one play: aliases for executions and polled tasks."""

    def __init__(self, stage: Stage, scenario: dict[str, Json]) -> None:
        self.stage = stage
        self.scenario = scenario
        self.ids: dict[str, str] = {}
        self.bodies: dict[str, dict[str, Json]] = {}
        self.polled: dict[str, dict[str, Json]] = {}

    def play(self) -> None:
        """Every step in order; Mismatch names the step that did not come true."""
        for name, fields in (self.scenario.get("taskdefs") or {}).items():
            self.stage.register_task({"name": name, **(fields or {})})
        for definition in self.scenario.get("defs") or []:
            self.stage.register(full_definition(definition))
        for handler in self.scenario.get("handlers") or []:
            self.stage.register_handler(handler)
        for number, step in enumerate(self.scenario["steps"]):
            self.step(number, step)

    def step(self, number: int, step: dict[str, Json]) -> None:
        """One step, with the error it may be expected to raise."""
        verb = next(iter(step))
        value = step[verb]
        where = f"step {number}: {verb} {value if isinstance(value, str) else ''}".rstrip()
        wanted = step.get("error")
        try:
            getattr(self, f"do_{verb}")(value, step)
            self.stage.settle()
        except Refused as refused:
            if refused.status not in OURS.get(wanted, (wanted,)):
                raise Mismatch(f"{where}: refused with {refused}") from refused
            if step.get("message_has", "") not in refused.message:
                raise Mismatch(f"{where}: {step['message_has']!r} is not in {refused}") from refused
            return
        except Mismatch as mismatch:
            raise Mismatch(f"{where}: {mismatch}") from mismatch
        if wanted is not None:
            raise Mismatch(f"{where}: wanted error {wanted}, there was none")

    # Finding things

    def id(self, alias: str) -> str:
        if alias not in self.ids:
            raise Mismatch(f"no execution is called {alias}")
        return self.ids[alias]

    def execution(self, alias: str) -> dict[str, Json]:
        workflow_id = self.id(alias)
        try:
            return self.stage.execution(workflow_id)
        except Refused:
            if workflow_id in self.bodies:
                return self.bodies[workflow_id]
            raise

    def task(self, alias: str, ref: str, index: int | None = None) -> dict[str, Json]:
        tasks = self.execution(alias)["tasks"]
        found = [task for task in tasks if task["referenceTaskName"] == ref]
        if not found:
            raise Mismatch(f"{alias} has no task {ref}")
        chosen: dict[str, Json] = found[-1 if index is None else index]
        return chosen

    def filled(self, value: Json, alias: str = "w") -> Json:
        def find(of: str, ref: str, index: int | None) -> str:
            if ref.startswith("@"):
                return self.id(ref[1:])
            found: str = self.task(of, ref, index)["taskId"]
            return found

        return with_ids(value, alias, find)

    # Definitions and starts

    def do_register(self, value: dict[str, Json], step: dict[str, Json]) -> None:
        if "tasks" in value:
            self.stage.register(full_definition(value))
        else:
            self.stage.register_task(value)

    def do_start(self, name: str, step: dict[str, Json]) -> None:
        request: dict[str, Json] = {"name": name}
        request["input"] = None if step.get("null_input") else self.filled(step.get("input", {}))
        fields = {
            "version": "version",
            "corr": "correlationId",
            "prio": "priority",
            "domains": "taskToDomain",
            "key": "idempotencyKey",
            "strategy": "idempotencyStrategy",
        }
        request |= {field: step[key] for key, field in fields.items() if key in step}
        if "def" in step:
            request["workflowDef"] = full_definition(step["def"])
        self.ids[step.get("as", "w")] = self.stage.start(request)

    def do_test(self, body: dict[str, Json], step: dict[str, Json]) -> None:
        request = {"input": {}, **body}
        if "workflowDef" in request:
            request["workflowDef"] = full_definition(request["workflowDef"])
        answer = self.stage.test(request)
        self.ids[step.get("as", "w")] = answer["workflowId"]
        self.bodies[answer["workflowId"]] = answer

    # Workers

    def do_poll(self, task_type: str, step: dict[str, Json]) -> None:
        count = step.get("n", 1)
        got = self.stage.poll(task_type, step.get("worker", "w"), step.get("domain"), count)
        if step.get("none"):
            if got:
                raise Mismatch(f"polled {[task['referenceTaskName'] for task in got]}")
            return
        if not got:
            raise Mismatch("polled nothing")
        if "count" in step and len(got) != step["count"]:
            raise Mismatch(f"polled {len(got)} tasks")
        task = got[0]
        if "of" in step:
            mine = [t for t in got if t["workflowInstanceId"] == self.id(step["of"])]
            if not mine:
                raise Mismatch(f"polled a task of another execution than {step['of']}")
            task = mine[0]
        if "ref" in step and task["referenceTaskName"] != step["ref"]:
            raise Mismatch(f"polled {task['referenceTaskName']}")
        if "in" in step:
            require_subset(
                self.filled(step["in"], next(iter(self.ids))), task.get("inputData") or {}, "input"
            )
        self.polled[step.get("as", "p")] = task

    def do_complete(self, task_type: str, step: dict[str, Json]) -> None:
        self.do_poll(task_type, step)
        self.report(self.polled[step.get("as", "p")], "COMPLETED", step)

    def do_fail(self, task_type: str, step: dict[str, Json]) -> None:
        self.do_poll(task_type, step)
        self.report(self.polled[step.get("as", "p")], step.get("status", "FAILED"), step)

    def do_progress(self, task_type: str, step: dict[str, Json]) -> None:
        self.do_poll(task_type, step)
        self.report(self.polled[step.get("as", "p")], "IN_PROGRESS", step)

    def do_result(self, alias: str, step: dict[str, Json]) -> None:
        self.report(self.polled[alias], step["status"], step)

    def do_update(self, ref: str, step: dict[str, Json]) -> None:
        tasks = self.execution(step.get("of", "w"))["tasks"]
        found = [
            task
            for task in tasks
            if task["referenceTaskName"] == ref
            and (step.get("any") or task["status"] not in TERMINAL)
        ]
        if not found:
            raise Mismatch(f"there is no open task {ref}")
        self.report(found[-1], step["status"], step)

    def report(self, task: dict[str, Json], status: str, step: dict[str, Json]) -> None:
        result = {
            "workflowInstanceId": task["workflowInstanceId"],
            "taskId": task["taskId"],
            "status": status,
            "outputData": self.filled(step.get("out")) or {},
            "workerId": step.get("worker", "w"),
        }
        if "reason" in step or status.startswith("FAILED"):
            default = "err" if status.startswith("FAILED") else None
            result["reasonForIncompletion"] = step.get("reason", default)
        if "cb" in step:
            result["callbackAfterSeconds"] = step["cb"]
        if step.get("lease"):
            result["extendLease"] = True
        self.stage.report(result)

    # Verbs

    def do_pause(self, alias: str, step: dict[str, Json]) -> None:
        self.stage.verb("pause", self.id(alias))

    def do_resume(self, alias: str, step: dict[str, Json]) -> None:
        self.stage.verb("resume", self.id(alias))

    def do_decide(self, alias: str, step: dict[str, Json]) -> None:
        self.stage.verb("decide", self.id(alias))

    def do_resetcallbacks(self, alias: str, step: dict[str, Json]) -> None:
        self.stage.verb("resetcallbacks", self.id(alias))

    def do_restart(self, alias: str, step: dict[str, Json]) -> None:
        self.stage.verb("restart", self.id(alias), latest=bool(step.get("latest")))

    def do_retry(self, alias: str, step: dict[str, Json]) -> None:
        self.stage.verb("retry", self.id(alias), resume_sub=bool(step.get("resumeSub")))

    def do_terminate(self, alias: str, step: dict[str, Json]) -> None:
        self.stage.verb("terminate", self.id(alias), reason=step.get("reason"))

    def do_remove(self, alias: str, step: dict[str, Json]) -> None:
        self.stage.verb("remove", self.id(alias), archive=bool(step.get("archive", True)))

    def do_skip(self, alias: str, step: dict[str, Json]) -> None:
        request = {"taskInput": step.get("in"), "taskOutput": step.get("out")}
        self.stage.verb("skip", self.id(alias), ref=step["ref"], request=request)

    def do_rerun(self, alias: str, step: dict[str, Json]) -> None:
        request: dict[str, Any] = {}
        if "task" in step:
            named = self.filled(f"{{id:{step['task']}}}", alias) if step["task"] != "?" else None
            request["reRunFromTaskId"] = named or "no-such-task"
        fields = {
            "taskInput": "taskInput",
            "workflowInput": "workflowInput",
            "corr": "correlationId",
        }
        request |= {field: step[key] for key, field in fields.items() if key in step}
        self.stage.verb("rerun", self.id(alias), request=request)

    # Time, events, aliases

    def do_advance(self, seconds: float, step: dict[str, Json]) -> None:
        self.stage.advance(float(seconds))

    def do_event(self, name: str, step: dict[str, Json]) -> None:
        self.stage.deliver(name, self.filled(step.get("payload", {})))

    def do_events(self, wanted: list[list[str]], step: dict[str, Json]) -> None:
        found = self.stage.event_executions()
        if found != wanted:
            raise Mismatch(f"event executions are {found}, wanted {wanted}")

    def do_sub(self, alias: str, step: dict[str, Json]) -> None:
        task = self.task(step.get("of", "w"), step["ref"], step.get("idx"))
        found = task.get("subWorkflowId")
        if not found:
            raise Mismatch(f"{step['ref']} has no sub-workflow")
        self.ids[alias] = found

    def do_bind(self, alias: str, step: dict[str, Json]) -> None:
        of = step.get("of", "w")
        head, _, rest = step["path"].partition(".")
        if head == "workflow":
            value: Json = self.execution(of)
        else:
            task = self.task(of, head)
            value = {"output": task.get("outputData"), "input": task.get("inputData")}
        rest = re.sub(r"\['([^']+)'\]", r".\1", rest)
        while rest:
            if isinstance(value, dict) and rest in value:
                value, rest = value[rest], ""
            else:
                key, _, rest = rest.partition(".")
                value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, str):
            raise Mismatch(f"{step['path']} is {value!r}")
        self.ids[alias] = value

    # Expectations

    def do_gone(self, alias: str, step: dict[str, Json]) -> None:
        try:
            self.stage.execution(self.id(alias))
        except Refused as refused:
            if refused.status == 404:
                return
            raise
        raise Mismatch("the execution is still there")

    def do_count(self, name: str, step: dict[str, Json]) -> None:
        found = self.stage.count(name)
        if found != step["is"]:
            raise Mismatch(f"there are {found} executions of {name}, wanted {step['is']}")

    def do_expect(self, value: Json, step: dict[str, Json]) -> None:
        alias = value if isinstance(value, str) else "w"
        execution = self.execution(alias)
        try:
            self._expect_execution(alias, execution, step)
            self._expect_tasks(alias, execution, step)
        except Mismatch as mismatch:
            raise Mismatch(f"{mismatch} :: {describe(execution)}") from None
        for name, wanted in (step.get("queue") or {}).items():
            found = self.stage.queue_size(name)
            if found != wanted:
                raise Mismatch(f"queue {name} holds {found}, wanted {wanted}")

    def _expect_execution(
        self, alias: str, execution: dict[str, Json], step: dict[str, Json]
    ) -> None:
        if "status" in step and execution["status"] != step["status"]:
            raise Mismatch(f"status is {execution['status']}, wanted {step['status']}")
        if "output" in step:
            wanted, found = self.filled(step["output"], alias), execution.get("output") or {}
            if step.get("output_subset"):
                require_subset(wanted, found, "output")
            elif plain(found) != plain(wanted or {}):
                raise Mismatch(f"output is {found}, wanted {wanted}")
        reason = execution.get("reasonForIncompletion")
        if "reason" in step and reason != self.filled(step["reason"], alias):
            raise Mismatch(f"reason is {reason!r}, wanted {step['reason']!r}")
        if "reason_has" in step and self.filled(step["reason_has"], alias) not in (reason or ""):
            raise Mismatch(f"reason {reason!r} lacks {step['reason_has']!r}")
        for key, field in (
            ("vars", "variables"),
            ("corr", "correlationId"),
            ("prio", "priority"),
        ):
            if key in step and plain(execution.get(field) or None) != plain(step[key] or None):
                raise Mismatch(f"{field} is {execution.get(field)!r}, wanted {step[key]!r}")
        if "input" in step:
            require_subset(self.filled(step["input"], alias), execution.get("input") or {}, "input")
        failed = sorted(execution.get("failedReferenceTaskNames") or [])
        if "failedRefs" in step and failed != sorted(step["failedRefs"]):
            raise Mismatch(f"failedReferenceTaskNames are {failed}")
        if "failedTask" in step:
            wanted = self.task(alias, step["failedTask"])["taskId"]
            if execution.get("failedTaskId") not in (None, wanted):
                raise Mismatch(f"failedTaskId is {execution.get('failedTaskId')}")
        if "parent" in step and execution.get("parentWorkflowId") != self.id(step["parent"]):
            raise Mismatch(f"parent is {execution.get('parentWorkflowId')}")

    def _expect_tasks(self, alias: str, execution: dict[str, Json], step: dict[str, Json]) -> None:
        tasks = execution["tasks"]
        if "tasks" in step:
            for wanted, task in zip(step["tasks"], tasks, strict=False):
                check_task(wanted, task, tasks)
            if len(tasks) != len(step["tasks"]):
                raise Mismatch(f"there are {len(tasks)} tasks, wanted {len(step['tasks'])}")
        for kind, field in (("outs", "outputData"), ("ins", "inputData")):
            for name, wanted in (step.get(kind) or {}).items():
                found = self._named(alias, name).get(field) or {}
                require_subset(self.filled(wanted, alias), found, f"{kind} {name}")
        for name, wanted in (step.get("exact_outs") or {}).items():
            found = self._named(alias, name).get("outputData") or {}
            if plain(found) != plain(self.filled(wanted, alias)):
                raise Mismatch(f"output of {name} is {found}, wanted {wanted}")
        for kind in ("why", "why_has"):
            for name, wanted in (step.get(kind) or {}).items():
                found = self._named(alias, name).get("reasonForIncompletion")
                wanted = self.filled(wanted, alias)
                same = found == wanted if kind == "why" else (wanted or "") in (found or "")
                if not same:
                    raise Mismatch(f"reason of {name} is {found!r}, wanted {wanted!r}")

    def _named(self, alias: str, name: str) -> dict[str, Json]:
        ref, _, index = name.partition("#")
        return self.task(alias, ref, int(index) if index else None)
