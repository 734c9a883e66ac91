"""The providers of models: where each is reached, with which key, and how its dialect of the
OpenAI-compatible protocol differs. A new provider is a line in the table, or just an address."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx

from engine.model.record import Json
from engine.workers.ai_task import FinalFailure


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is special about a provider."""

    usual: str | None = None
    """The address its documentation names."""
    key_header: str = "Authorization"
    most_tokens: str = "max_tokens"
    """The field that bounds the length of an answer."""
    json_mode: bool = True
    """It can be bound to JSON; else it is only asked for it."""
    top_k: bool = False


PLAIN = Dialect(top_k=True)
"""A provider nobody has heard of speaks the protocol as self-hosted servers do."""

DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect("https://api.openai.com/v1", most_tokens="max_completion_tokens"),
    "azure_openai": Dialect(
        "https://RESOURCE.openai.azure.com/openai/v1",
        key_header="api-key",
        most_tokens="max_completion_tokens",
    ),
    "anthropic": Dialect("https://api.anthropic.com/v1", json_mode=False),
    "bedrock": Dialect("https://bedrock-runtime.REGION.amazonaws.com/openai/v1"),
    "cohere": Dialect("https://api.cohere.ai/compatibility/v1"),
    "google_gemini": Dialect("https://generativelanguage.googleapis.com/v1beta/openai"),
    "vertex_ai": Dialect(),
    "grok": Dialect("https://api.x.ai/v1"),
    "huggingface": Dialect("https://router.huggingface.co/v1", top_k=True),
    "litellm": Dialect("http://localhost:4000/v1", top_k=True),
    "mistral": Dialect("https://api.mistral.ai/v1"),
    "ollama": Dialect("http://localhost:11434/v1"),
    "perplexity": Dialect("https://api.perplexity.ai", json_mode=False, top_k=True),
}
"""By the provider's word in lower case."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One provider, ready to be asked."""

    word: str
    base: httpx.URL
    dialect: Dialect
    key: str | None
    key_variable: str

    def url(self, path: str) -> httpx.URL:
        """The address of a service under the base; a query of the base stays."""
        return self.base.copy_with(path=f"{self.base.path.rstrip('/')}/{path}")

    def headers(self) -> dict[str, str]:
        """What proves who asks."""
        if not self.key:
            return {}
        name = self.dialect.key_header
        return {name: f"Bearer {self.key}" if name == "Authorization" else self.key}


def variable_word(provider: str) -> str:
    """A provider's word as it stands in the names of variables."""
    return re.sub(r"[^A-Z0-9]+", "_", provider.strip().upper())


class Providers:
    """The providers that this engine may ask. Keys are read at the moment of asking."""

    def __init__(
        self,
        urls: Mapping[str, str],
        secret: Callable[[str], str | None],
        secret_prefix: str,
    ) -> None:
        self._urls = {variable_word(word): url for word, url in urls.items()}
        self._secret = secret
        self._secret_prefix = secret_prefix

    def endpoint(self, provider: Json) -> Endpoint:
        """Where a provider is reached. A provider without an address is a final failure."""
        word = str(provider or "").strip()
        if not word:
            known = ", ".join(sorted(self._urls)).lower()
            raise FinalFailure(f"llmProvider is missing: name a provider. Set up here: {known}.")
        dialect = DIALECTS.get(word.lower(), PLAIN)
        name = variable_word(word)
        key_name = f"{name}_API_KEY"
        url, variable = self._urls.get(name), self._secret_prefix + key_name
        if not url:
            usually = f" (usually {dialect.usual})" if dialect.usual else ""
            raise FinalFailure(
                f"llmProvider is {word!r}, for which this engine has no address: set "
                f"REPRISE_LLM_{name}_URL{usually}, and {variable} if it asks for a key."
            )
        try:
            base = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise FinalFailure(f"REPRISE_LLM_{name}_URL is {url!r}: {error}") from error
        return Endpoint(word, base, dialect, self._secret(key_name), variable)
