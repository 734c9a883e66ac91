"""A local stand-in for a language model, and the two tools that it may call.

The model follows rules, so the same question always takes the same path. Its output has the
shape of a real chat model's, tokens included; a real one can take its place.
"""

import re
from typing import Any

from sample_workflows.failures import GivenUp, fail_first_calls

ORDERS = {
    "A-1042": {"item": "coffee grinder", "news": "was delivered on 3 June"},
    "A-1077": {"item": "milk jug", "news": "is on its way and arrives on 12 June"},
}
RETURN_DAYS = {"coffee grinder": 30, "milk jug": 14}


def ask_local_model(task: dict[str, Any]) -> dict[str, Any]:
    """Choose the next step: call a tool, or answer with what the tools have said so far."""
    question, transcript = task["question"], task["transcript"]
    seen = {entry["tool"]: entry["result"] for entry in transcript}
    order_id = re.search(r"\b[A-Z]-\d{4}\b", question)
    if order_id and "look_up_order" not in seen:
        return _call("look_up_order", {"orderId": order_id[0]}, "I need the order first.", task)
    if "return" in question.lower() and "read_return_policy" not in seen:
        item = seen.get("look_up_order", {}).get("item", "")
        return _call("read_return_policy", {"item": item}, "Now the rules for this item.", task)
    return _answer(seen, task)


def _call(tool: str, arguments: dict[str, Any], why: str, task: dict[str, Any]) -> dict[str, Any]:
    said = {"next": "tool", "tool": tool, "arguments": arguments, "result": why}
    return said | _usage(task, f"{why} {tool} {arguments}", "TOOL_CALLS")


def _answer(seen: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
    order, policy = seen.get("look_up_order"), seen.get("read_return_policy")
    sentences = []
    if order:
        sentences.append(f"Your {order['item']} {order['news']}.")
    if policy:
        sentences.append(f"You can return it within {policy['days']} days.")
    text = " ".join(sentences) or "Please send me your order number, for example A-1042."
    return {"next": "answer", "result": text} | _usage(task, text, "STOP")


def _usage(task: dict[str, Any], reply: str, reason: str) -> dict[str, Any]:
    """Words stand in for tokens: what was read grows with every step, as with a real model."""
    read = len(f"{task['question']} {task['transcript']}".split())
    written = len(reply.split())
    return {
        "model": "local-rules-1",
        "promptTokens": read,
        "completionTokens": written,
        "tokenUsed": read + written,
        "finishReason": reason,
    }


def look_up_order(task: dict[str, Any]) -> dict[str, Any]:
    order_id = task["arguments"]["orderId"]
    if task["orderService"] == "down once":
        fail_first_calls(f"look_up_order/{task['runId']}", 1, "The order service did not answer.")
    if order_id not in ORDERS:
        raise GivenUp(f"There is no order {order_id}.")
    return {"orderId": order_id, **ORDERS[order_id]}


def read_return_policy(task: dict[str, Any]) -> dict[str, Any]:
    item = task["arguments"]["item"]
    return {"item": item, "days": RETURN_DAYS.get(item, 14)}


WORKERS = {
    "ask_local_model": ask_local_model,
    "look_up_order": look_up_order,
    "read_return_policy": read_return_policy,
}
