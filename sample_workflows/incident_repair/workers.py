"""An operations team in small: read the signals, find the cause, change, check, undo, report."""

from typing import Any

from sample_workflows.failures import GivenUp, fail_first_calls

POOL_BEFORE, POOL_AFTER = 10, 40


def query_logs(task: dict[str, Any]) -> dict[str, Any]:
    service = task["service"]
    lines = [
        {"message": "Timed out waiting for a database connection", "count": 412},
        {"message": "Client closed the request early", "count": 37},
        {"message": f"Slow query in {service}.orders", "count": 9},
    ]
    return {"minutes": task["minutes"], "errors": lines}


def query_metrics(task: dict[str, Any]) -> dict[str, Any]:
    return {
        "service": task["service"],
        "p95Ms": 2380,
        "requestsPerSecond": 85,
        "connectionsInUse": POOL_BEFORE,
        "connectionsAllowed": POOL_BEFORE,
    }


def find_root_cause(task: dict[str, Any]) -> dict[str, Any]:
    """The most frequent error, believed more when the metrics tell the same story."""
    errors, metrics = task["errors"], task["metrics"]
    if not errors:
        raise GivenUp("The logs show no errors, so there is nothing to find a cause for.")
    worst = max(errors, key=lambda error: error["count"])
    share = round(100 * worst["count"] / sum(error["count"] for error in errors))
    pool_is_full = metrics["connectionsInUse"] >= metrics["connectionsAllowed"]
    return {
        "cause": "The database connection pool is exhausted" if pool_is_full else worst["message"],
        "evidence": f"{share} % of the errors say: {worst['message']}",
        "confidence": "high" if pool_is_full and share > 50 else "low",
    }


def plan_repair(task: dict[str, Any]) -> dict[str, Any]:
    return {
        "change": {"setting": "pool_size", "from": POOL_BEFORE, "to": POOL_AFTER},
        "steps": [
            f"Raise pool_size of {task['service']} from {POOL_BEFORE} to {POOL_AFTER}",
            "Wait for the metrics to settle",
            "Check that p95 latency is below 500 ms",
            f"Otherwise set pool_size back to {POOL_BEFORE}",
        ],
        "because": task["cause"],
    }


def apply_repair(task: dict[str, Any]) -> dict[str, Any]:
    if task["deployLock"] == "held once":
        reason = f"Another release of {task['service']} holds the deploy lock."
        fail_first_calls(f"apply_repair/{task['runId']}", 1, reason)
    change = task["change"]
    return {"applied": f"{change['setting']} = {change['to']}"}


def verify_repair(task: dict[str, Any]) -> dict[str, Any]:
    p95 = 240 if task["afterRepair"] == "healthy" else 2290
    return {"p95Ms": p95, "verdict": "healthy" if p95 < 500 else "still slow"}


def roll_back_repair(task: dict[str, Any]) -> dict[str, Any]:
    change = task["change"]
    return {"restored": f"{change['setting']} = {change['from']}"}


def write_report(task: dict[str, Any]) -> dict[str, Any]:
    outcome = _outcome(task)
    return {
        "outcome": outcome,
        "report": f"{task['service']}: {task['alert']}. Cause: {task['cause']}. "
        f"Decision by {task['approver']}: {task['decision']}. Outcome: {outcome}.",
    }


def _outcome(task: dict[str, Any]) -> str:
    if task["decision"] != "approve":
        return "not repaired, the plan was declined"
    if task["restored"]:
        return f"rolled back, {task['restored']}"
    return f"repaired, p95 is {task['p95Ms']} ms"


WORKERS = {
    "query_logs": query_logs,
    "query_metrics": query_metrics,
    "find_root_cause": find_root_cause,
    "plan_repair": plan_repair,
    "apply_repair": apply_repair,
    "verify_repair": verify_repair,
    "roll_back_repair": roll_back_repair,
    "write_report": write_report,
}
