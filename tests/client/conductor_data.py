"""Executions as Conductor gives them: an order that failed, a wait for a person, a huge one, odd ones."""

from typing import Any

from studio.graph import layout
from tests.client.fake_conductor import Server
from tests.studio.graph.samples import a_task, incident, many_tasks, order_saga

Document = dict[str, Any]
NOW = 1_796_000_000_000
ORDER = "9b1f3c52-77aa-4c0e-8d1b-5e2f60c1a4d7"
REASON = "HTTP 503 from the carrier gateway"


def an_attempt(ref: str, status: str = "COMPLETED", took: int = 86, **more: Any) -> Document:
    iteration = more.get("iteration", 0)
    type_ = more.pop("type", "SIMPLE")
    return {
        "taskId": f"{ref}-{more.get('seq', 1)}",
        "referenceTaskName": f"{ref}__{iteration}" if iteration else ref,
        "taskDefName": ref,
        "taskType": type_,
        "status": status,
        "retryCount": 0,
        "iteration": iteration,
        "scheduledTime": NOW,
        "startTime": NOW,
        "endTime": 0 if status in ("SCHEDULED", "IN_PROGRESS") else NOW + took,
        "inputData": {"method": "GET", "uri": "https://carrier.example/v2/track/CR-5521"},
        "outputData": {"status": 503, "body": "upstream connect error"},
        "workflowTask": {"name": ref, "taskReferenceName": ref, "type": type_},
        **more,
    }


def an_execution(
    id_: str, definition: Document, status: str = "COMPLETED", **more: Any
) -> Document:
    return {
        "workflowId": id_,
        "workflowName": definition["name"],
        "workflowVersion": definition.get("version", 1),
        "status": status,
        "startTime": NOW,
        "endTime": 0 if status in ("RUNNING", "PAUSED") else NOW + 69_000,
        "input": {"orderId": "A-1042", "carrier_url": "https://carrier.example"},
        "output": {},
        "variables": {},
        "workflowDefinition": definition,
        "tasks": [],
        **more,
    }


def a_failed_order(id_: str = ORDER, status: str = "FAILED", **more: Any) -> Document:
    definition = {**order_saga(), "version": 7, "description": "Reserve, charge, ship and track"}
    polls = [
        an_attempt("poll_carrier", iteration=number, seq=7 + number, type="HTTP")
        for number in (1, 2)
    ]
    polls += [
        an_attempt(
            "poll_carrier",
            "FAILED",
            5_000,
            iteration=3,
            seq=10 + number,
            retryCount=number,
            type="HTTP",
            reasonForIncompletion=REASON,
            startTime=NOW + number * 7_000,
            endTime=NOW + number * 7_000 + 5_000,
        )
        for number in range(3)
    ]
    tasks = [
        an_attempt("reserve_stock", seq=1),
        an_attempt("score_risk", took=214, seq=2, type="HTTP"),
        an_attempt("route", seq=3, type="SWITCH", outputData={"selectedCase": "low"}),
        an_attempt("charge_card", took=1_200, seq=4, type="HTTP"),
        an_attempt("fulfil", seq=5, type="FORK_JOIN"),
        an_attempt("notify_customer", took=12, seq=6, type="EVENT"),
        an_attempt(
            "book_shipment", took=3_400, seq=7, type="SUB_WORKFLOW", subWorkflowId="child-1"
        ),
        *polls,
        an_attempt("track", "FAILED", 69_000, seq=14, type="DO_WHILE", endTime=NOW + 30_000),
        an_attempt("fulfilled", "CANCELED", 69_000, seq=15, type="JOIN", endTime=NOW + 30_000),
    ]
    given: Document = {
        "correlationId": "order-10482",
        "reasonForIncompletion": REASON,
        "failedReferenceTaskNames": ["poll_carrier"],
        "tasks": tasks,
        **more,
    }
    return an_execution(id_, definition, status, **given)


def a_waiting_incident(id_: str = "wait-1") -> Document:
    tasks = [
        an_attempt("gather", seq=1, type="FORK_JOIN"),
        an_attempt("query_logs", seq=2, type="HTTP"),
        an_attempt("query_metrics", seq=3, type="HTTP"),
        an_attempt("gathered", seq=4, type="JOIN"),
        an_attempt("root_cause", seq=5),
        an_attempt("plan", seq=6),
        an_attempt(
            "approval",
            "IN_PROGRESS",
            seq=7,
            type="HUMAN",
            inputData={"question": "Restart cache-2?", "steps": 3},
        ),
    ]
    return an_execution(id_, {**incident(), "version": 4}, "RUNNING", tasks=tasks)


def a_huge_execution(id_: str = "huge-1", count: int = 2_000) -> Document:
    definition = many_tasks(count)
    nodes = [node for node in layout.place(definition).nodes if node.path]
    tasks = [
        an_attempt(node.ref, seq=number, type=node.type) for number, node in enumerate(nodes, 1)
    ]
    return an_execution(id_, definition, tasks=tasks)


def an_odd_execution(id_: str = "odd-1") -> Document:
    """A status nobody knows, a type nobody knows, missing fields, null payloads."""
    definition = {"name": "odd", "tasks": [a_task("strange", "TELEPORT"), {"name": "nameless"}]}
    tasks = [
        an_attempt("strange", "HOVERING", type="TELEPORT", outputData=None, inputData=None),
        {"referenceTaskName": "ghost", "status": "COMPLETED", "taskId": "ghost-1"},
    ]
    return an_execution(id_, definition, "LEVITATING", tasks=tasks, output=None, input=None)


def a_busy_server() -> Server:
    """One of everything, and some more failed orders."""
    server = Server().add(
        a_failed_order(),
        a_waiting_incident(),
        a_huge_execution(),
        an_odd_execution(),
        *(
            a_failed_order(
                f"2e07{number:04d}-aa11-4c0e-8d1b-5e2f60c191bc",
                correlationId=f"order-{10_484 + number}",
            )
            for number in range(9)
        ),
        *(
            an_execution(
                f"77d3{number:04d}-bb22-4c0e-8d1b-5e2f60c15f1e", {**order_saga(), "version": 7}
            )
            for number in range(14)
        ),
    )
    server.task_defs = {
        name: {"name": name, "retryCount": 3, "retryDelaySeconds": 60, "timeoutSeconds": 0}
        for name in ("reserve_stock", "charge_card", "close_order")
    }
    server.queues = {"render_pdf": 96, "reserve_stock": 24, "charge_card": 0, "send_letter": 8}
    server.polls = [
        {"queueName": "render_pdf", "workerId": "host-1", "lastPollTime": NOW},
        {"queueName": "reserve_stock", "domain": "blue", "workerId": "host-2", "lastPollTime": NOW},
    ]
    server.logs = {"poll_carrier-12": [{"log": "asking the carrier", "createdTime": NOW}]}
    return server
