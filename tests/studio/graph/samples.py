"""Definitions and runs to draw: an order, a remediation, broken drafts, two thousand tasks."""

from typing import Any

Task = dict[str, Any]


def a_task(ref: str, type_: str = "SIMPLE", **more: Any) -> Task:
    return {"name": ref, "taskReferenceName": ref, "type": type_, **more}


def a_run(ref: str, status: str = "COMPLETED", ms: int = 86, **more: Any) -> Task:
    return {"ref": ref, "status": status, "startTime": 1_000, "endTime": 1_000 + ms, **more}


def order_saga() -> Task:
    polls = [a_task("poll_carrier", "HTTP")]
    shipping = [
        a_task("book_shipment", "SUB_WORKFLOW"),
        a_task("track", "DO_WHILE", loopCondition="$.poll.state != 'here'", loopOver=polls),
    ]
    cases = {"low": [], "review": [a_task("manual_review", "HUMAN")]}
    branches = [[a_task("notify_customer", "EVENT")], shipping]
    return {
        "name": "order_saga",
        "tasks": [
            a_task("reserve_stock"),
            a_task("score_risk", "HTTP"),
            a_task("route", "SWITCH", decisionCases=cases),
            a_task("charge_card", "HTTP"),
            a_task("fulfil", "FORK_JOIN", forkTasks=branches),
            a_task("fulfilled", "JOIN", joinOn=["notify_customer", "track"]),
            a_task("close_order"),
        ],
    }


def order_run(ticks: int = 1) -> list[Task]:
    """The order while its last poll runs (0), after it has failed three times (1 and more)."""
    polls = [a_run("poll_carrier", iteration=number, ms=80) for number in (1, 2)]
    if ticks == 0:
        polls.append(a_run("poll_carrier", "IN_PROGRESS", iteration=3))
    for retry in range(3 if ticks else 0):
        reason = "HTTP 503 from the carrier gateway"
        more = {"iteration": 3, "retryCount": retry, "reason": reason}
        polls.append(a_run("poll_carrier", "FAILED", 5_000, **more))
    return [
        a_run("reserve_stock"),
        a_run("score_risk", ms=214),
        a_run("route", case="low"),
        a_run("charge_card", "FAILED", 700, retryCount=0),
        a_run("charge_card", ms=1_200, retryCount=1),
        a_run("fulfil"),
        a_run("notify_customer", ms=12),
        a_run("book_shipment", ms=3_400),
        *polls,
        a_run("track", "FAILED" if ticks else "IN_PROGRESS"),
        a_run("fulfilled", "CANCELED" if ticks else "IN_PROGRESS"),
    ]


def incident() -> Task:
    gather = [[a_task("query_logs", "HTTP")], [a_task("query_metrics", "HTTP")]]
    healthy = a_task("healthy", "SWITCH", decisionCases={"yes": [], "no": [a_task("roll_back")]})
    cases = {"approved": [a_task("fix"), a_task("verify", "HTTP"), healthy], "rejected": []}
    return {
        "name": "incident_remediation",
        "tasks": [
            a_task("gather", "FORK_JOIN", forkTasks=gather),
            a_task("gathered", "JOIN", joinOn=["query_logs", "query_metrics"]),
            a_task("root_cause"),
            a_task("plan"),
            a_task("approval", "HUMAN"),
            a_task("decide", "SWITCH", decisionCases=cases),
            a_task("report"),
        ],
    }


def many_tasks(count: int) -> Task:
    """A long definition with every kind of nesting."""
    tasks: list[Task] = []
    for start in range(0, count, 16):
        n = f"{start:04}"
        lanes = [[a_task(f"extract_{n}_{k}"), a_task(f"load_{n}_{k}", "HTTP")] for k in range(3)]
        cases = {"big": [a_task(f"split_{n}")], "small": [a_task(f"pass_{n}", "SUB_WORKFLOW")]}
        stop = [a_task(f"stop_{n}", "TERMINATE")]
        rounds = [a_task(f"poll_{n}"), a_task(f"pause_{n}", "WAIT")]
        tasks += [
            a_task(f"prepare_{n}"),
            a_task(f"spread_{n}", "FORK_JOIN", forkTasks=lanes),
            a_task(f"spread_{n}_done", "JOIN", joinOn=[f"load_{n}_{k}" for k in range(3)]),
            a_task(f"size_{n}", "SWITCH", decisionCases=cases, defaultCase=stop),
            a_task(f"watch_{n}", "DO_WHILE", loopCondition="$.more", loopOver=rounds),
        ]
    return {"name": "many", "tasks": tasks}


def broken() -> Task:
    return {
        "name": "broken",
        "tasks": [
            a_task("first"),
            {"type": "HTTP", "name": "no_reference_name"},
            a_task("first", "HTTP"),
            a_task("odd", "ROCKET"),
            a_task("loose_fork", "FORK_JOIN", forkTasks=[[a_task("left")], [], "not a list"]),
            a_task("no_cases", "SWITCH"),
            None,
            a_task("empty_loop", "DO_WHILE", loopOver=[]),
            a_task("<script>alert(1)</script>", decisionCases=3),
            {"taskReferenceName": 17, "type": ["JOIN"]},
            a_task("no_branches", "FORK_JOIN", forkTasks={}),
            a_task("joined", "JOIN", joinOn="left"),
        ],
    }


def dynamic() -> Task:
    return {
        "name": "fan_out",
        "tasks": [
            a_task("list_files", "HTTP"),
            a_task("each_file", "FORK_JOIN_DYNAMIC"),
            a_task("all_files", "JOIN"),
            a_task("each_row", "FORK_JOIN_DYNAMIC"),
            a_task("all_rows", "JOIN"),
            a_task("later", "FORK_JOIN_DYNAMIC"),
            a_task("all_later", "JOIN"),
        ],
    }


def dynamic_run() -> list[Task]:
    statuses = ["FAILED", "IN_PROGRESS", *["COMPLETED"] * 5]
    files = [a_run(f"file_{n}", s, forkRef="each_file") for n, s in enumerate(statuses)]
    rows = [
        a_run(f"row_{n}", "FAILED" if n % 17 == 0 else "COMPLETED", forkRef="each_row")
        for n in range(120)
    ]
    return [a_run("list_files"), a_run("each_file"), *files, a_run("each_row"), *rows]


CASES: dict[str, Any] = {
    "edit": incident(),
    "run": order_saga(),
    "changes": order_saga(),
    "coverage": order_saga(),
    "many": many_tasks(2_000),
    "broken": broken(),
    "dynamic": dynamic(),
    "dynamic_run": dynamic_run(),
    "empty": {"name": "empty", "tasks": []},
}
CASES["many_run"] = [
    a_run(ref, "FAILED" if ref == "poll_0800" else "COMPLETED")
    for n in range(0, 801, 16)
    for ref in (f"prepare_{n:04}", f"spread_{n:04}", f"size_{n:04}", f"poll_{n:04}")
]
