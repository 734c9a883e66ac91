"""A purchase in an office: the budget, the reminder, the order, the polite refusal."""

from typing import Any

from sample_workflows.failures import GivenUp

BUDGETS = {"Design": 4000, "Engineering": 12000, "Support": 2500}
SUPPLIERS = {"Nordic Desks", "Bright Screens"}


def check_budget(task: dict[str, Any]) -> dict[str, Any]:
    budget = BUDGETS.get(task["department"], 0)
    left = budget - task["amount"]
    return {"budget": budget, "leftAfterwards": left, "withinBudget": left >= 0}


def send_reminder(task: dict[str, Any]) -> dict[str, Any]:
    return {"sent": f"{task['approver']}, the purchase of {task['item']} waits for your decision."}


def place_order(task: dict[str, Any]) -> dict[str, Any]:
    supplier = task["supplier"]
    if supplier not in SUPPLIERS:
        known = ", ".join(sorted(SUPPLIERS))
        raise GivenUp(f"We have no account with {supplier}. Known suppliers: {known}.")
    return {"orderNumber": f"PO-{task['requestId']}", "supplier": supplier}


def decline_request(task: dict[str, Any]) -> dict[str, Any]:
    comment = task.get("comment") or "no comment was given"
    return {"message": f"Request {task['requestId']} was not approved: {comment}."}


WORKERS = {
    "check_budget": check_budget,
    "send_reminder": send_reminder,
    "place_order": place_order,
    "decline_request": decline_request,
}
