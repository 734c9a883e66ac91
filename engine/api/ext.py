"""/ext: what we add to Conductor's API. A server without it is a Conductor."""

from engine.api.admin import CONDUCTOR_VERSION
from engine.api.answers import Text
from engine.api.mocking import played
from engine.api.wire import Call, Route, read_json
from engine.model.errors import InvalidInput
from engine.model.record import Json
from engine.services.house import House

FEATURES = ("outline", "task", "ledger", "diagnosis", "overview", "preview", "text", "test")
"""What a client may ask for; each name is a promise."""


class Ext:
    """Answers that Conductor has no endpoint for."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._stories = house.stories

    def routes(self) -> list[Route]:
        """Below /api."""
        one = "/ext/executions/{id}"
        return [
            Route("GET", "/ext/capabilities", self.capabilities),
            Route("GET", "/ext/overview", self.overview),
            Route("GET", f"{one}/outline", self.outline, ("since:int",)),
            Route("GET", f"{one}/tasks/{{seq}}", self.task),
            Route("GET", f"{one}/before", self.before),
            Route("GET", f"{one}/ledger", self.ledger, ("after:int", "limit:int")),
            Route("GET", f"{one}/diagnosis", self.diagnosis),
            Route("POST", f"{one}/preview", self.preview, (), "map"),
            Route("POST", "/ext/test", self.test, (), "WorkflowTestRequest"),
            Route("GET", "/ext/definitions/{name}/text", self.text, ("version:int",), gives="text"),
            Route("PUT", "/ext/definitions/{name}/text", self.put_text, (), "text", "none"),
        ]

    def capabilities(self, call: Call) -> dict[str, Json]:
        """What this server is and can do beyond Conductor."""
        return {
            "product": "reprise",
            "version": self._house.version,
            "conductorVersion": CONDUCTOR_VERSION,
            "capabilities": [*FEATURES, *self._house.offered],
        }

    def overview(self, call: Call) -> dict[str, Json]:
        """Counts over all executions, what waits longest, what failed in the last day."""
        return self._stories.overview()

    def outline(self, call: Call) -> dict[str, Json]:
        """An execution and its tasks without payloads; since a ledger line, or all."""
        return self._stories.outline(call.path["id"], call.optional_number("since"))

    def task(self, call: Call) -> dict[str, Json]:
        """One task with payloads, log and all its attempts."""
        text = call.path["seq"]
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise InvalidInput(f"seq is {text!r}: write a whole number.")
        return self._stories.task(call.path["id"], int(text))

    def before(self, call: Call) -> dict[str, Json]:
        """The attempts that recoveries have put aside: earlier generations, without payloads."""
        return self._stories.before(call.path["id"])

    def ledger(self, call: Call) -> dict[str, Json]:
        """What happened to an execution, by whom and why, oldest first."""
        return self._stories.ledger(
            call.path["id"], call.number("after"), call.number("limit", 1000)
        )

    def diagnosis(self, call: Call) -> dict[str, Json]:
        """Why an execution stopped, what it waits for, and what to do next, in sentences."""
        return self._stories.diagnosis(call.path["id"])

    def preview(self, call: Call) -> dict[str, Json]:
        """What a verb would run again, reuse and cancel; nothing happens."""
        return self._stories.preview(call.path["id"], call.map())

    def test(self, call: Call) -> dict[str, Json]:
        """Play a definition on mocks: the execution, its sub-workflows, and what was visited."""
        run = played(self._house, call)
        return {
            "workflow": run.workflow,
            "report": run.report.json_value(),
            "children": run.children,
        }

    def text(self, call: Call) -> Text:
        """A definition as its author wrote it, or laid out anew if that is not known."""
        return Text(
            self._house.definitions.text(call.path["name"], call.optional_number("version"))
        )

    def put_text(self, call: Call) -> None:
        """Register a definition and keep its text as it is."""
        given = read_json(call.body)
        name = given.get("name") if isinstance(given, dict) else None
        if name != call.path["name"]:
            raise InvalidInput(f"The text names {name!r}, the path {call.path['name']!r}.")
        self._house.definitions.take(given, overwrite=True, text=call.raw(), by=call.person)
