"""The fields of model, vector, media, MCP and agent tasks, as a table by type word."""

from studio.editor.form_field import ADVANCED, BASIC, Field, Kind, given

_PROVIDERS = (
    "openai", "anthropic", "azure_openai", "bedrock", "cohere", "google_gemini", "vertex_ai", "Grok",
    "huggingface", "litellm", "mistral", "ollama", "perplexity", "stabilityai",
)  # fmt: skip


def _field(
    name: str,
    label: str,
    kind: Kind,
    help_: str,
    default: object = None,
    *,
    required: bool = False,
    choices: tuple[str, ...] = (),
    group: str = BASIC,
    when: tuple[str, tuple[object, ...]] | None = None,
) -> Field:
    shown = (given(when[0]), when[1]) if when else None
    return Field(given(name), label, kind, help_, required, default, choices, group, shown)


def _more(name: str, label: str, kind: Kind, help_: str, default: object = None) -> Field:
    return _field(name, label, kind, help_, default, group=ADVANCED)


_MODEL = (
    _field("llmProvider", "Provider", Kind.CHOICE, "Who serves the model.", required=True, choices=_PROVIDERS),
    _field("model", "Model", Kind.TEXT, "The model as its provider names it.", required=True),
)  # fmt: skip
_SAMPLING = (
    _field("temperature", "Temperature", Kind.NUMBER, "Higher is more varied."),
    _more("topP", "Top P", Kind.NUMBER, "Only the likeliest words up to this share."),
    _more("topK", "Top K", Kind.INT, "Only so many of the likeliest words."),
    _field("maxTokens", "Longest answer", Kind.INT, "In tokens.", 8192),
    _more("stopWords", "Stop words", Kind.LIST, "The answer ends before any of these."),
    _more("frequencyPenalty", "Frequency penalty", Kind.NUMBER, "Higher repeats less."),
    _more("presencePenalty", "Presence penalty", Kind.NUMBER, "Higher changes the subject more."),
    _more("promptVariables", "Prompt variables", Kind.MAP, "Fill `${name}` in the texts; write `$${name}` there."),
)  # fmt: skip
_JSON_OUTPUT = _field(
    "jsonOutput", "Answer is JSON", Kind.BOOL, "The answer is read as JSON.", False
)
_STORE = (
    _field("vectorDB", "Vector database", Kind.TEXT, "The configured database.", required=True),
    _field("index", "Index", Kind.TEXT, "The index inside it.", required=True),
    _field("namespace", "Namespace", Kind.TEXT, "A part of the index."),
)  # fmt: skip
_EMBEDDER = (
    _field("embeddingModelProvider", "Embedding provider", Kind.CHOICE, "Who serves the embedding model.", choices=_PROVIDERS),
    _field("embeddingModel", "Embedding model", Kind.TEXT, "The model that makes the numbers."),
    _more("dimensions", "Dimensions", Kind.INT, "How many numbers an embedding has."),
)  # fmt: skip
_MAX_RESULTS = _field("maxResults", "At most", Kind.INT, "How many results to give.", 1)
_EMBEDDINGS = _field(
    "embeddings",
    "Embeddings",
    Kind.EXPRESSION,
    "A list of numbers from an earlier task.",
    required=True,
)
_PROMPT = _field("prompt", "Prompt", Kind.EXPRESSION, "What to ask for.", required=True)
_COUNT = _more("n", "How many", Kind.INT, "How many to make.", 1)
_SERVER = (
    _field("mcpServer", "MCP server", Kind.EXPRESSION, "The address of the server.", required=True),
    _more("headers", "Headers", Kind.MAP, "Sent with each request."),
)  # fmt: skip
_AGENT_URL = _field(
    "agentUrl", "Agent address", Kind.EXPRESSION, "Where the agent or its card is.", required=True
)
_HEADERS = _more("headers", "Headers", Kind.MAP, "Sent with each request.")
_A2A: tuple[str, tuple[object, ...]] = ("agentType", (None, "", "a2a"))
_OWN: tuple[str, tuple[object, ...]] = ("agentType", ("conductor",))
_AGENT_TYPE = _field(
    "agentType",
    "Kind of agent",
    Kind.CHOICE,
    "An agent elsewhere, or a workflow of this server.",
    "a2a",
    choices=("a2a", "conductor"),
)
_SEARCH = (*_STORE, _EMBEDDINGS, _MAX_RESULTS)


def _size(width: int, height: int) -> tuple[Field, ...]:
    return (
        _field("width", "Width", Kind.INT, "In pixels.", width),
        _field("height", "Height", Kind.INT, "In pixels.", height),
    )


AI_FIELDS: dict[str, tuple[Field, ...]] = {
    "LLM_CHAT_COMPLETE": (
        *_MODEL,
        _field("instructions", "Instructions", Kind.EXPRESSION, "What the model should know and how it should behave."),
        _field("messages", "Messages", Kind.JSON, "A list of `{role, message}`."),
        _field("userInput", "User input", Kind.EXPRESSION, "Taken when there are no messages."),
        _field("tools", "Tools", Kind.JSON, "A list of tools that the model may ask for."),
        _JSON_OUTPUT,
        *_SAMPLING,
        _more("participants", "Participants", Kind.MAP, "Task reference name to role: their outputs become history."),
        _more("inputSchema", "Input schema", Kind.JSON, "What the input has to look like."),
        _more("outputSchema", "Output schema", Kind.JSON, "What the answer has to look like."),
        _more("reasoningEffort", "Reasoning effort", Kind.TEXT, "How much the model should think first."),
        _more("thinkingTokenLimit", "Thinking limit", Kind.INT, "In tokens."),
        _more("webSearch", "Web search", Kind.BOOL, "The model may search the web.", False),
        _more("previousResponseId", "Previous response", Kind.EXPRESSION, "Goes on from an earlier response."),
    ),
    "LLM_TEXT_COMPLETE": (*_MODEL, _PROMPT, _JSON_OUTPUT, *_SAMPLING),
    "LLM_GENERATE_EMBEDDINGS": (
        *_MODEL,
        _field("text", "Text", Kind.EXPRESSION, "The text to embed.", required=True),
        _more("dimensions", "Dimensions", Kind.INT, "How many numbers an embedding has."),
    ),
    "LLM_INDEX_TEXT": (
        *_STORE,
        _field("docId", "Document id", Kind.EXPRESSION, "Under which it is found again.", required=True),
        _field("text", "Text", Kind.EXPRESSION, "The text to keep.", required=True),
        *_EMBEDDER,
        _more("metadata", "Metadata", Kind.MAP, "Kept beside the text."),
        _more("chunkSize", "Chunk size", Kind.INT, "Stored with the text.", 12000),
        _more("chunkOverlap", "Chunk overlap", Kind.INT, "Stored with the text.", 400),
    ),
    "LLM_STORE_EMBEDDINGS": (
        *_STORE,
        _EMBEDDINGS,
        _field("id", "Id", Kind.EXPRESSION, "Under which they are found again; empty makes one up."),
        _more("metadata", "Metadata", Kind.MAP, "Kept beside them."),
        *_EMBEDDER[:2],
    ),
    "LLM_SEARCH_EMBEDDINGS": _SEARCH,
    "LLM_GET_EMBEDDINGS": _SEARCH,
    "LLM_SEARCH_INDEX": (
        *_STORE,
        _field("query", "Question", Kind.EXPRESSION, "What to look for.", required=True),
        *_EMBEDDER,
        _MAX_RESULTS,
    ),
    "GENERATE_IMAGE": (
        *_MODEL,
        _PROMPT,
        *_size(1024, 1024),
        _field("outputFormat", "Format", Kind.CHOICE, "The kind of file.", choices=("png", "jpg", "webp")),
        _more("style", "Style", Kind.TEXT, "As the provider names it."),
        _COUNT,
    ),
    "GENERATE_AUDIO": (
        *_MODEL,
        _field("text", "Text", Kind.EXPRESSION, "What to say.", required=True),
        _field("voice", "Voice", Kind.TEXT, "As the provider names it."),
        _field("speed", "Speed", Kind.NUMBER, "1 is normal.", 1.0),
        _field("responseFormat", "Format", Kind.TEXT, "The kind of file.", "mp3"),
        _COUNT,
    ),
    "GENERATE_VIDEO": (
        *_MODEL,
        _PROMPT,
        _field("duration", "Duration", Kind.SECONDS, "How long it plays.", 5),
        *_size(1280, 720),
        _field("inputImage", "First image", Kind.EXPRESSION, "Where the video starts from."),
        _more("fps", "Frames a second", Kind.INT, "How smooth it is.", 24),
        _more("aspectRatio", "Aspect ratio", Kind.TEXT, "Such as `16:9`."),
        _more("negativePrompt", "Not wanted", Kind.EXPRESSION, "What it should not show."),
        _more("seed", "Seed", Kind.INT, "The same seed gives a similar video."),
        _more("maxCostDollars", "Cost limit", Kind.NUMBER, "In US dollars."),
        _COUNT,
    ),
    "GENERATE_PDF": (
        _field("markdown", "Markdown", Kind.EXPRESSION, "The text of the document.", required=True),
        _field("pageSize", "Page size", Kind.TEXT, "Such as `A4`.", "A4"),
        _more("theme", "Theme", Kind.TEXT, "How it looks.", "default"),
        _more("baseFontSize", "Font size", Kind.INT, "In points.", 11),
        _more("outputLocation", "Where to", Kind.EXPRESSION, "Where the file is kept."),
        _more("imageBaseUrl", "Images from", Kind.EXPRESSION, "The address that relative images start from."),
    ),
    "LIST_MCP_TOOLS": _SERVER,
    "CALL_MCP_TOOL": (
        *_SERVER,
        _field("method", "Tool", Kind.EXPRESSION, "The name of the tool.", required=True),
        _field("arguments", "Arguments", Kind.MAP, "What the tool is given."),
    ),
    "AGENT": (
        _AGENT_TYPE,
        _field("agentUrl", "Agent address", Kind.EXPRESSION, "Where the agent or its card is.", required=True, when=_A2A),
        _field("text", "Message", Kind.EXPRESSION, "What the agent is told.", when=_A2A),
        _field("agentName", "Agent", Kind.TEXT, "The agent of this server.", required=True, when=_OWN),
        _field("agentVersion", "Agent version", Kind.INT, "Empty means the latest.", when=_OWN),
        _field("prompt", "Prompt", Kind.EXPRESSION, "What the agent is asked.", when=_OWN),
        _more("contextId", "Context id", Kind.EXPRESSION, "Goes on with an earlier conversation."),
        _more("taskId", "Task id", Kind.EXPRESSION, "Goes on with an earlier task of the agent."),
        _HEADERS,
        _more("streaming", "Streaming", Kind.BOOL, "The agent sends parts as they come.", False),
        _more("pushNotification", "Agent calls back", Kind.BOOL, "The agent reports instead of being asked.", False),
        _more("pollIntervalSeconds", "Asks every", Kind.SECONDS, "How often to look at the agent's task.", 5),
        _more("maxDurationSeconds", "At most", Kind.SECONDS, "Then the task fails for good.", 86400),
        _more("maxPollFailures", "Failed looks allowed", Kind.INT, "Then the task fails for good.", 30),
    ),
    "GET_AGENT_CARD": (_AGENT_URL, _HEADERS),
    "CANCEL_AGENT": (
        _AGENT_TYPE,
        _field("agentUrl", "Agent address", Kind.EXPRESSION, "Where the agent is.", required=True, when=_A2A),
        _field("taskId", "Task id", Kind.EXPRESSION, "The task to stop.", required=True, when=_A2A),
        _field("executionId", "Execution", Kind.EXPRESSION, "The execution to stop.", required=True, when=_OWN),
        _field("reason", "Reason", Kind.EXPRESSION, "Why it is stopped."),
    ),
    "LIST_API_TOOLS": (
        _field("specUrl", "API description", Kind.EXPRESSION, "The address of an OpenAPI, Swagger or Postman file.", required=True),
        _HEADERS,
    ),
    "PLAN_AND_COMPILE": (
        _field("planJson", "Plan", Kind.EXPRESSION, "The plan that an agent wrote.", required=True),
    ),
    "PLANNER_CONTEXT_FETCH": (
        _field("url", "Address", Kind.EXPRESSION, "What to fetch.", required=True),
        _HEADERS,
        _field("ttl_seconds", "Keep for", Kind.SECONDS, "How long a fetched text may be used again.", 60),
        _field("required", "Required", Kind.BOOL, "The task fails when the text cannot be fetched.", False),
    ),
}  # fmt: skip
