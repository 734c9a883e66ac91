"""Settings: everything that may differ from one engine to the next, read once at the start.

A setting is given as an argument, else as an environment variable `REPRISE_...`, else it has the
default below. Nothing here is looked up again later, but secrets: those are read at the hand-over.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from engine.model.errors import InvalidInput
from engine.model.facts import Limits

PREFIX = "REPRISE_"

Durability = Literal["FULL", "NORMAL", "OFF"]
"""When a commit counts as stored: on the disk, in the system's hands, or as it comes."""

Reach = Literal["loopback-and-public", "public-only", "listed-only", "unrestricted"]
"""Which addresses HTTP tasks and webhooks may call; see `engine/workers/egress.py`."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How one engine is set up."""

    database: str = "sqlite:///reprise.db"
    """`sqlite:///FILE`, `postgresql://...`, or `memory:` for one that is thrown away."""
    durability: Durability = "FULL"
    host: str = "127.0.0.1"
    port: int = 8080
    evaluators: int = 2
    """Processes that answer scripts."""
    worker_threads: int = 8
    """Threads that carry out Python functions and HTTP tasks."""
    http_worker: bool = True
    """Carry out HTTP tasks here."""
    llm_urls: Mapping[str, str] = field(default_factory=dict)
    """Where providers of models are reached, by their word in llmProvider: `REPRISE_LLM_OPENAI_URL`
    and so on. With one or more of them LLM and MCP tasks are carried out here; their keys are the
    secrets `OPENAI_API_KEY` and so on."""
    mcp_worker: bool = False
    """Carry out MCP tasks here, even without a provider of models."""
    grace_seconds: float = 10.0
    """How long work that runs may take to end when the engine stops."""
    python_scripts: bool = False
    """May INLINE tasks bring Python? Their process is bounded, but no sandbox."""
    secret_prefix: str = "CONDUCTOR_SECRET_"
    environment_prefix: str = "CONDUCTOR_ENV_"
    limits: Limits = field(default_factory=lambda: Limits(response_grace_ms=500))
    payload_folder: str | None = None
    """Where large payloads are kept as files, which clients leave and fetch by path; None: all are in
    the database and sent inline. The files belong to the database, below a folder of its own: back
    up, move and restore both together."""
    task_payload_threshold: int = 3072 * 1024
    """Bytes of a task's input or output above which it is a file, if there is a folder."""
    workflow_payload_threshold: int = 5120 * 1024
    """The same for the input and output of an execution."""
    payload_grace_hours: float = 24.0
    """How long a file that nothing refers to is left alone: a client may be about to name it."""
    http_response_bytes: int = 10 * 1024 * 1024
    reach: Reach | None = None
    """None: loopback and public addresses while the engine itself listens on loopback, else
    public ones alone."""
    allowed_hosts: tuple[str, ...] = ()
    """Hosts, with wildcards, or networks that may be called whatever `reach` says."""
    denied_hosts: tuple[str, ...] = ()
    """Hosts or networks that may never be called; this list is looked at first."""
    workflow_listener: str | None = None
    """The URL that is told of executions whose definition asks for a status listener."""
    task_listener: str | None = None
    """The URL that is told of tasks."""
    retention_days: float | None = None
    """Ended executions older than this are removed; None keeps all."""
    archive: bool = False
    """What is removed for its age stays readable, compressed: by its id and by every search. It
    comes back when somebody retries, reruns or restarts it."""
    archive_listener: bool = False
    """Executions whose definition asks for a status listener are archived as soon as they have
    ended, as by Conductor's listener of type `archive`."""

    @property
    def effective_reach(self) -> Reach:
        """`reach`, or what follows from the address the engine listens on."""
        if self.reach is not None:
            return self.reach
        return "loopback-and-public" if self.host in LOOPBACK else "public-only"

    def secret(self, name: str) -> str | None:
        """The secret of a name, as it is at this moment."""
        return os.environ.get(self.secret_prefix + name)

    def secrets(self) -> dict[str, str]:
        """The secrets at hand, by name."""
        return _variables(self.secret_prefix)

    def environment(self) -> dict[str, str]:
        """The variables that expressions may read, by the name they have there."""
        return _variables(self.environment_prefix)


def _variables(prefix: str) -> dict[str, str]:
    return {
        name[len(prefix) :]: value for name, value in os.environ.items() if name.startswith(prefix)
    }


def settings_from(environment: Mapping[str, str], **given: Any) -> Settings:
    """The settings of an environment; what is given (and not None) goes first."""
    found: dict[str, Any] = {}
    plain = Settings()
    for item in fields(Settings):
        text = environment.get(PREFIX + item.name.upper())
        if text is not None and item.name not in ("limits", "llm_urls"):
            found[item.name] = _read(item.name, text, getattr(plain, item.name))
    found["limits"] = _limits(environment, plain.limits)
    found["llm_urls"] = _llm_urls(environment)
    found.update({name: value for name, value in given.items() if value is not None})
    settings = replace(plain, **found)
    _check(settings)
    _check_texts(environment, (settings.secret_prefix, settings.environment_prefix))
    return settings


def _limits(environment: Mapping[str, str], plain: Limits) -> Limits:
    found = {}
    for item in fields(Limits):
        text = environment.get(f"{PREFIX}LIMIT_{item.name.upper()}")
        if text is not None:
            found[item.name] = _read(f"limit_{item.name}", text, getattr(plain, item.name))
    return replace(plain, **found)


def _llm_urls(environment: Mapping[str, str]) -> dict[str, str]:
    """The addresses of `REPRISE_LLM_..._URL`, by what stands for the dots."""
    begin, end = f"{PREFIX}LLM_", "_URL"
    return {
        name[len(begin) : -len(end)].lower(): url.strip()
        for name, url in environment.items()
        if name.startswith(begin) and name.endswith(end) and url.strip()
    }


def _read(name: str, text: str, plain: Any) -> Any:
    """A variable's text as the kind of value that its default is."""
    try:
        if isinstance(plain, bool):
            return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
        if isinstance(plain, int):
            return int(text)
        if isinstance(plain, float) or name == "retention_days":
            return float(text)
    except (ValueError, KeyError):
        kind = "true or false" if isinstance(plain, bool) else "a number"
        raise InvalidInput(
            f"{PREFIX}{name.upper()} is {text!r}: it must be {kind}. Correct it or unset it."
        ) from None
    if isinstance(plain, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _check(settings: Settings) -> None:
    """Refuse what could never work, naming the variable."""
    bounds = {"port": (0, 65535), "evaluators": (1, 64), "worker_threads": (1, 1024)}
    bounds |= dict.fromkeys(("task_payload_threshold", "workflow_payload_threshold"), (0, 2**40))
    bounds["payload_grace_hours"] = (1, 24 * 365)
    for name, (least, most) in bounds.items():
        value = getattr(settings, name)
        if not least <= value <= most:
            raise InvalidInput(f"{name} is {value}: it must be from {least} to {most}.")
    words = {"durability": Durability, "reach": Reach}
    for name, allowed in words.items():
        value = getattr(settings, name)
        if value is not None and value not in get_args(allowed):
            raise InvalidInput(f"{name} is {value!r}: use one of {', '.join(get_args(allowed))}.")
    for provider, url in settings.llm_urls.items():
        if not url.startswith(("http://", "https://")):
            raise InvalidInput(
                f"The address of the provider {provider} is {url!r}: it must begin with http:// or "
                f"https://. Correct {PREFIX}LLM_{provider.upper()}_URL."
            )


def _check_texts(environment: Mapping[str, str], prefixes: tuple[str, ...]) -> None:
    """Refuse what no task could be given, without showing it: it may be a secret."""
    for name, value in environment.items():
        if name.startswith(prefixes):
            try:
                f"{name}{value}".encode()
            except UnicodeEncodeError:
                raise InvalidInput(f"{name!a} is no UTF-8: correct it or unset it.") from None
