"""A terminal at which `reprise` is typed: commands go to an app in this process, over no network."""

import json
from types import TracebackType
from typing import Any

from click.testing import CliRunner, Result

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import Settings
from studio.cli.main import cli
from studio.client.client import Actor, Client
from studio.client.transport import in_process

Json = Any
NOWHERE = {
    "REPRISE_SERVER": None,
    "CONDUCTOR_SERVER_URL": None,
    "REPRISE_TOKEN": None,
    "REPRISE_DESK": None,
    "REPRISE_DATABASE": None,
    "REPRISE_PERSON": "ada",
    "NO_COLOR": None,
}
"""What the machine's own environment says must not matter."""


class Terminal:
    """Someone at a prompt, and the app that answers."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.asked: list[tuple[str, str | None]] = []

    def connect(self, server: str, token: str | None) -> Client:
        self.asked.append((server, token))
        return Client(in_process(self.app))

    def type(
        self, *words: str, answer: str | bytes | None = None, colour: bool = False, **env: str
    ) -> Result:
        """Runs `reprise` with these words. `answer` is what stands on standard input; `colour` is
        whether standard output is a terminal that shows colours."""
        runner = CliRunner(env={**NOWHERE, **env})
        return runner.invoke(
            cli,
            list(words),
            input=answer,
            color=colour,
            obj=self.connect,
            prog_name="reprise",
        )

    def good(self, *words: str, answer: str | None = None) -> str:
        """What a command that succeeds writes as its answer."""
        result = self.type(*words, answer=answer)
        assert result.exit_code == 0, (result.exit_code, result.output)
        return result.stdout

    def json(self, *words: str) -> list[Json]:
        """The JSON that a command writes, a document a line; whatever its exit code."""
        result = self.type(*words, "--json")
        return [json.loads(line) for line in result.stdout.splitlines()]

    def bad(self, code: int, *words: str, answer: str | None = None) -> str:
        """What a command that ends with this code says on standard error."""
        result = self.type(*words, answer=answer)
        assert result.exit_code == code, (result.exit_code, result.output, result.exception)
        assert "Traceback" not in result.output
        return result.stderr


class EngineTerminal(Terminal):
    """The app is an engine's, which is thrown away."""

    def __init__(self) -> None:
        self.engine = Engine(Settings(database="memory:", evaluators=1, http_worker=False))
        super().__init__(create_app(self.engine))

    def __enter__(self) -> "EngineTerminal":
        self.engine.start()
        self.client = Client(in_process(self.app))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.client.close()
        self.engine.stop()

    def define(self, name: str, *tasks: Json, **more: Json) -> str:
        """Registers a definition; without tasks one SIMPLE task `one` that nobody carries out."""
        self.client.save_definition(a_definition(name, *tasks, **more), Actor("test"))
        return name

    def start(self, name: str, **input_: Json) -> str:
        return self.client.start({"name": name, "input": input_}, Actor("test"))

    def status(self, id_: str) -> str:
        return str(self.client.execution(id_)["status"])


def simple(ref: str) -> Json:
    return {"name": ref, "taskReferenceName": ref, "type": "SIMPLE", "inputParameters": {}}


def noted(ref: str = "note") -> Json:
    """A task that the engine itself completes."""
    given = {"said": "${workflow.input.word}"}
    return {"name": ref, "taskReferenceName": ref, "type": "SET_VARIABLE", "inputParameters": given}


def ended(ref: str, status: str, reason: str) -> Json:
    """A task that ends its execution at once."""
    given = {"terminationStatus": status, "terminationReason": reason}
    return {"name": ref, "taskReferenceName": ref, "type": "TERMINATE", "inputParameters": given}


def a_definition(name: str, *tasks: Json, **more: Json) -> Json:
    return {
        "name": name,
        "version": 1,
        "schemaVersion": 2,
        "ownerEmail": "ada@example.com",
        "timeoutSeconds": 0,
        "tasks": list(tasks) or [simple("one")],
        **more,
    }
