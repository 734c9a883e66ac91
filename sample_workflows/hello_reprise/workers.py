"""Says hello. The smallest worker there can be."""

from typing import Any

from sample_workflows.failures import GivenUp

GREETINGS = {"en": "Hello", "de": "Hallo", "fr": "Bonjour", "es": "Hola", "it": "Ciao"}


def compose_greeting(task: dict[str, Any]) -> dict[str, Any]:
    name = str(task.get("name") or "").strip()
    if not name:
        raise GivenUp("There is nobody to greet: the input 'name' is empty.")
    word = GREETINGS.get(str(task.get("language")), GREETINGS["en"])
    return {"greeting": f"{word}, {name}."}


WORKERS = {"compose_greeting": compose_greeting}
