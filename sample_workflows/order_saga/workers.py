"""A web shop: stock, payment and shipping, and what undoes each of them."""

from typing import Any

from sample_workflows.failures import GivenUp

PRICES = {"coffee grinder": 89, "milk jug": 24, "paper filters": 6}
CARRIERS = {"DE": "DHL", "FR": "La Poste", "NL": "PostNL", "US": "UPS"}


def reserve_stock(task: dict[str, Any]) -> dict[str, Any]:
    lines = task["items"]
    unknown = [line["item"] for line in lines if line["item"] not in PRICES]
    if unknown:
        raise GivenUp(f"The shop does not sell: {', '.join(unknown)}.")
    total = sum(PRICES[line["item"]] * line["quantity"] for line in lines)
    return {"reservationId": f"stock-{task['orderId']}", "total": total}


def charge_card(task: dict[str, Any]) -> dict[str, Any]:
    if task["card"] == "declined":
        raise GivenUp("The bank declined the card. Ask the customer for another one.")
    return {"paymentId": f"pay-{task['orderId']}", "charged": task["amount"]}


def book_shipping(task: dict[str, Any]) -> dict[str, Any]:
    country = task["address"]["country"]
    if country not in CARRIERS:
        raise GivenUp(f"No carrier delivers to {country}. We ship to {', '.join(CARRIERS)}.")
    return {"bookingId": f"ship-{task['orderId']}", "carrier": CARRIERS[country]}


def confirm_order(task: dict[str, Any]) -> dict[str, Any]:
    return {
        "message": f"Thank you, {task['customer']}. Order {task['orderId']} leaves with "
        f"{task['carrier']} and costs {task['charged']} euros."
    }


def cancel_shipping(task: dict[str, Any]) -> dict[str, Any]:
    return {"undone": f"shipping {task['bookingId']} cancelled"}


def refund_card(task: dict[str, Any]) -> dict[str, Any]:
    return {"undone": f"payment {task['paymentId']} refunded"}


def release_stock(task: dict[str, Any]) -> dict[str, Any]:
    return {"undone": f"reservation {task['reservationId']} released"}


def announce_cancellation(task: dict[str, Any]) -> dict[str, Any]:
    undone = [step for step in task["undone"] if step]
    what_happened = "; ".join(undone) or "nothing had been done yet"
    return {
        "steps": undone,
        "message": f"Order {task['orderId']} is cancelled: {what_happened}.",
    }


WORKERS = {
    "reserve_stock": reserve_stock,
    "charge_card": charge_card,
    "book_shipping": book_shipping,
    "confirm_order": confirm_order,
    "cancel_shipping": cancel_shipping,
    "refund_card": refund_card,
    "release_stock": release_stock,
    "announce_cancellation": announce_cancellation,
}
