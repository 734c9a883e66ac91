"""The type words of Conductor, sorted by who does the work. Any other word is a worker's."""

OPERATORS = frozenset(
    [
        "SWITCH",
        "DECISION",
        "FORK_JOIN",
        "FORK_JOIN_DYNAMIC",
        "JOIN",
        "EXCLUSIVE_JOIN",
        "DO_WHILE",
        "SET_VARIABLE",
        "TERMINATE",
        "NOOP",
        "SUB_WORKFLOW",
        "START_WORKFLOW",
        "WAIT",
        "HUMAN",
        "EVENT",
        "INLINE",
        "LAMBDA",
        "JSON_JQ_TRANSFORM",
        "PULL_WORKFLOW_MESSAGES",
    ]
)
"""Types that the engine itself decides."""

QUEUED = frozenset(
    ["HTTP", "LLM_CHAT_COMPLETE", "LLM_TEXT_COMPLETE", "LLM_GENERATE_EMBEDDINGS"]
) | (frozenset(["LIST_MCP_TOOLS", "CALL_MCP_TOOL"]))
"""Types that a built-in worker takes from the queue of their name."""

EXTERNAL = frozenset(
    [
        "KAFKA_PUBLISH",
        "JDBC",
        "LLM_INDEX_TEXT",
        "LLM_STORE_EMBEDDINGS",
        "LLM_SEARCH_EMBEDDINGS",
        "LLM_GET_EMBEDDINGS",
        "LLM_SEARCH_INDEX",
        "GENERATE_IMAGE",
        "GENERATE_AUDIO",
        "GENERATE_VIDEO",
        "GENERATE_PDF",
        "AGENT",
        "GET_AGENT_CARD",
        "CANCEL_AGENT",
        "LIST_API_TOOLS",
        "PLAN_AND_COMPILE",
        "PLANNER_CONTEXT_FETCH",
    ]
)
"""System types of Conductor that here wait for a worker polling their word."""

UNHANDLED = frozenset(
    [
        "HTTP_POLL",
        "WAIT_FOR_WEBHOOK",
        "GET_WORKFLOW",
        "UPDATE_TASK",
        "TERMINATE_WORKFLOW",
        "YIELD",
        "BUSINESS_RULE",
        "SENDGRID",
        "GRPC",
        "QUERY_PROCESSOR",
        "OPS_GENIE",
        "GET_SIGNED_JWT",
        "UPDATE_SECRET",
        "CHUNK_TEXT",
        "LIST_FILES",
        "PARSE_DOCUMENT",
        "GET_DOCUMENT",
        "LLM_INDEX_DOCUMENT",
        "INTEGRATION",
        "MCP_REMOTE",
    ]
)
"""Words of newer editors that open-source Conductor has no handler for either."""

AI = frozenset(word for word in QUEUED | EXTERNAL if word.startswith(("LLM_", "GENERATE_"))) | {
    "AGENT",
    "GET_AGENT_CARD",
    "CANCEL_AGENT",
    "LIST_MCP_TOOLS",
    "CALL_MCP_TOOL",
}

SYSTEM = OPERATORS | QUEUED | EXTERNAL
"""Types that Conductor counts as system tasks."""

NEVER_RETRIED = frozenset(
    [
        "DECISION",
        "SWITCH",
        "FORK",
        "FORK_JOIN",
        "FORK_JOIN_DYNAMIC",
        "JOIN",
        "EXCLUSIVE_JOIN",
        "DO_WHILE",
    ]
)
"""Types that have no automatic retries, whatever their definition says."""

NO_RESPONSE_TIMEOUT = frozenset(
    ["WAIT", "HUMAN", "JOIN", "EXCLUSIVE_JOIN", "DO_WHILE", "SUB_WORKFLOW"]
)
"""Types whose silence means nothing."""


def is_system(task_type: str) -> bool:
    """A type word of the engine's own, as opposed to a worker's."""
    return task_type in SYSTEM
