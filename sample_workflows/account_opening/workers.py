"""A bank: register a customer, give an account number, have a card printed, say welcome."""

from typing import Any

from sample_workflows.failures import fail_first_calls


def register_customer(task: dict[str, Any]) -> dict[str, Any]:
    initials = "".join(word[0] for word in task["name"].split()).upper()
    return {"customerId": f"C-{initials}-{task['postcode']}"}


def reserve_account_number(task: dict[str, Any]) -> dict[str, Any]:
    digits = "".join(str(ord(letter) % 10) for letter in task["customerId"])
    return {"accountNumber": f"DE {digits[:4]} {digits[4:8]}"}


def print_card(task: dict[str, Any]) -> dict[str, Any]:
    key = f"print_card/{task['printQueue']}"
    fail_first_calls(key, task["printerFailures"], "The card printer is out of blank cards.")
    return {"cardNumber": f"{task['accountNumber'].replace(' ', '-')}-01"}


def welcome_customer(task: dict[str, Any]) -> dict[str, Any]:
    return {
        "message": f"Welcome, {task['name']}. Your account is {task['accountNumber']}, "
        f"and card {task['cardNumber']} is in the post."
    }


WORKERS = {
    "register_customer": register_customer,
    "reserve_account_number": reserve_account_number,
    "print_card": print_card,
    "welcome_customer": welcome_customer,
}
