"""Every task type the editor knows: its word, menu group, icon, and what a new one looks like.

A type that is not listed is a worker of that word. Which fields a type asks for is in `fields`.
"""

from dataclasses import dataclass, field
from typing import Any

from studio.editor.tree import JsonObject, copied

OPERATORS, SYSTEM, WORKERS, AI, DEPRECATED = (
    "Operators",
    "System",
    "Workers",
    "AI and agents",
    "Deprecated",
)
GROUPS = (OPERATORS, SYSTEM, WORKERS, AI, DEPRECATED)


@dataclass(frozen=True, slots=True)
class TaskType:
    """`stem` is the first reference name of a new task; `needs` says who must carry it out."""

    type: str
    label: str
    group: str
    icon: str
    stem: str
    help: str
    default: JsonObject = field(default_factory=dict)
    needs: str = ""
    replaced_by: str = ""


_WORKER = "A worker has to poll for this type; the engine does not carry it out itself."
_MODEL = "The engine calls the model when its AI extra is installed; else a worker has to poll."


def _inputs(**values: Any) -> JsonObject:
    return {"inputParameters": values}


_VECTORS: JsonObject = {"vectorDB": "", "index": "", "namespace": ""}
_CHAT: JsonObject = {"llmProvider": "openai", "model": ""}

_LISTED = (
    TaskType("SIMPLE", "Worker task", WORKERS, "terminal", "task", "Your own code: a worker polls for the task's name."),
    TaskType("DYNAMIC", "Dynamic task", WORKERS, "style", "dynamic", "The task to run is named by a value at run time.",
             {"dynamicTaskNameParam": "taskToExecute", **_inputs(taskToExecute="")}),
    TaskType("SWITCH", "Switch", OPERATORS, "alt_route", "switch", "Follows the one case that a value or a script names.",
             {**_inputs(switchCaseValue=""), "evaluatorType": "value-param", "expression": "switchCaseValue",
              "decisionCases": {"yes": []}, "defaultCase": []}),
    TaskType("FORK_JOIN", "Fork", OPERATORS, "call_split", "fork", "Runs branches side by side; its join waits for them.",
             {"forkTasks": [[], []]}),
    TaskType("FORK_JOIN_DYNAMIC", "Dynamic fork", OPERATORS, "call_split", "dynamic_fork", "Runs one branch for each element of a list.",
             _inputs(forkTaskName="", forkTaskInputs="")),
    TaskType("JOIN", "Join", OPERATORS, "call_merge", "join", "Waits until the tasks it names have ended.", {"joinOn": []}),
    TaskType("EXCLUSIVE_JOIN", "Exclusive join", OPERATORS, "call_merge", "exclusive_join", "Takes over the output of the first of its tasks that ran.",
             {"joinOn": [], "defaultExclusiveJoinTask": []}),
    TaskType("DO_WHILE", "Loop", OPERATORS, "repeat", "loop", "Repeats its body while a condition holds, or once for each item of a list.",
             {"loopCondition": "$['{ref}'].iteration < 3", "loopOver": []}),
    TaskType("SUB_WORKFLOW", "Sub-workflow", OPERATORS, "select_all", "sub_workflow", "Runs another workflow and waits for its end.",
             {"subWorkflowParam": {"name": ""}}),
    TaskType("START_WORKFLOW", "Start workflow", OPERATORS, "rocket_launch", "start_workflow", "Starts another workflow and does not wait.",
             _inputs(startWorkflow={"name": "", "input": {}})),
    TaskType("TERMINATE", "Terminate", OPERATORS, "stop_circle", "terminate", "Ends the execution at once with the status you choose.",
             _inputs(terminationStatus="COMPLETED", terminationReason="", workflowOutput={})),
    TaskType("SET_VARIABLE", "Set variables", OPERATORS, "variables", "set_variable", "Keeps values under `workflow.variables`."),
    TaskType("WAIT", "Wait", OPERATORS, "hourglass_top", "wait", "Waits for a time, until a moment, or for a signal.", _inputs(duration="1 minute")),
    TaskType("NOOP", "No operation", OPERATORS, "more_horiz", "noop", "Does nothing; a place to meet or to name."),
    TaskType("HTTP", "HTTP call", SYSTEM, "public", "http", "Calls an address and keeps the response.",
             _inputs(http_request={"uri": "", "method": "GET"})),
    TaskType("HUMAN", "Human task", SYSTEM, "person", "human", "Waits until a person answers."),
    TaskType("EVENT", "Publish event", SYSTEM, "bolt", "event", "Publishes its input as an event.", {"sink": "conductor"}),
    TaskType("INLINE", "Script", SYSTEM, "code", "inline", "Computes a value in JavaScript.",
             _inputs(evaluatorType="javascript", expression="(function () {\n  return $.value;\n})();", value="")),
    TaskType("JSON_JQ_TRANSFORM", "JQ transform", SYSTEM, "data_object", "jq", "Reshapes JSON with a jq program.",
             _inputs(queryExpression=".")),
    TaskType("KAFKA_PUBLISH", "Publish to Kafka", SYSTEM, "stream", "kafka_publish", "Writes a message to a Kafka topic.",
             _inputs(kafka_request={"bootStrapServers": "", "topic": "", "value": ""}), _WORKER),
    TaskType("PULL_WORKFLOW_MESSAGES", "Pull messages", SYSTEM, "inbox", "pull_messages", "Takes messages that were sent to this execution.",
             _inputs(batchSize=1, blocking=True)),
    TaskType("JDBC", "SQL statement", SYSTEM, "database", "jdbc", "Runs a statement on a configured connection.",
             _inputs(connectionId="", type="SELECT", statement="", parameters=[]), _WORKER),
    TaskType("LLM_CHAT_COMPLETE", "Chat with a model", AI, "smart_toy", "llm_chat", "Sends messages to a language model.",
             _inputs(**_CHAT, instructions="", messages=[]), _MODEL),
    TaskType("LLM_TEXT_COMPLETE", "Complete a prompt", AI, "smart_toy", "llm_text", "Sends one prompt to a language model.",
             _inputs(**_CHAT, prompt=""), _MODEL),
    TaskType("LLM_GENERATE_EMBEDDINGS", "Make embeddings", AI, "search", "embeddings", "Turns a text into a list of numbers.",
             _inputs(**_CHAT, text=""), _MODEL),
    TaskType("LLM_INDEX_TEXT", "Index a text", AI, "search", "index_text", "Embeds a text and keeps it in a vector index.",
             _inputs(**_VECTORS, docId="", text="", embeddingModelProvider="", embeddingModel=""), _WORKER),
    TaskType("LLM_STORE_EMBEDDINGS", "Store embeddings", AI, "search", "store_embeddings", "Keeps embeddings in a vector index.",
             _inputs(**_VECTORS, embeddings=""), _WORKER),
    TaskType("LLM_SEARCH_EMBEDDINGS", "Search by embeddings", AI, "search", "search_embeddings", "Finds the nearest entries to given embeddings.",
             _inputs(**_VECTORS, embeddings="", maxResults=10), _WORKER),
    TaskType("LLM_GET_EMBEDDINGS", "Search by embeddings (old name)", DEPRECATED, "search", "get_embeddings", "The old name of searching by embeddings.",
             _inputs(**_VECTORS, embeddings="", maxResults=10), _WORKER, "LLM_SEARCH_EMBEDDINGS"),
    TaskType("LLM_SEARCH_INDEX", "Search an index", AI, "search", "search_index", "Finds the texts nearest to a question.",
             _inputs(**_VECTORS, query="", embeddingModelProvider="", embeddingModel="", maxResults=10), _WORKER),
    TaskType("GENERATE_IMAGE", "Generate an image", AI, "image", "image", "Lets a model draw an image.", _inputs(**_CHAT, prompt=""), _WORKER),
    TaskType("GENERATE_AUDIO", "Generate audio", AI, "volume_up", "audio", "Lets a model speak a text.", _inputs(**_CHAT, text="", voice=""), _WORKER),
    TaskType("GENERATE_VIDEO", "Generate a video", AI, "videocam", "video", "Lets a model make a video.", _inputs(**_CHAT, prompt=""), _WORKER),
    TaskType("GENERATE_PDF", "Make a PDF", AI, "picture_as_pdf", "pdf", "Turns Markdown into a PDF.", _inputs(markdown=""), _WORKER),
    TaskType("LIST_MCP_TOOLS", "List MCP tools", AI, "hub", "list_tools", "Asks an MCP server which tools it has.", _inputs(mcpServer=""), _MODEL),
    TaskType("CALL_MCP_TOOL", "Call an MCP tool", AI, "hub", "call_tool", "Calls one tool of an MCP server.",
             _inputs(mcpServer="", method="", arguments={}), _MODEL),
    TaskType("AGENT", "Ask an agent", AI, "hub", "agent", "Hands a message to an agent and waits for its answer.",
             _inputs(agentType="a2a", agentUrl="", text=""), _WORKER),
    TaskType("GET_AGENT_CARD", "Read an agent card", AI, "hub", "agent_card", "Reads what an agent says it can do.", _inputs(agentUrl=""), _WORKER),
    TaskType("CANCEL_AGENT", "Cancel an agent", AI, "hub", "cancel_agent", "Asks an agent to stop a task.", _inputs(agentUrl="", taskId=""), _WORKER),
    TaskType("LIST_API_TOOLS", "List API tools", AI, "hub", "list_api_tools", "Reads an API description as a list of tools.", _inputs(specUrl=""), _WORKER),
    TaskType("PLAN_AND_COMPILE", "Compile a plan", AI, "hub", "compile_plan", "Turns an agent's plan into a workflow.", _inputs(planJson=""), _WORKER),
    TaskType("PLANNER_CONTEXT_FETCH", "Fetch planner context", AI, "hub", "planner_context", "Fetches a text that a planner may read.", _inputs(url=""), _WORKER),
    TaskType("DECISION", "Decision", DEPRECATED, "alt_route", "decision", "The older form of a switch.",
             {**_inputs(case=""), "caseValueParam": "case", "decisionCases": {"yes": []}, "defaultCase": []}, "", "SWITCH"),
    TaskType("LAMBDA", "Lambda", DEPRECATED, "code", "lambda", "The older form of a script.",
             _inputs(scriptExpression="return $.value;", value=""), "", "INLINE"),
)  # fmt: skip

TASK_TYPES = {listed.type: listed for listed in _LISTED}

QUICK = (
    "SIMPLE", "HTTP", "SWITCH", "FORK_JOIN", "DO_WHILE", "SUB_WORKFLOW", "WAIT", "SET_VARIABLE",
    "INLINE", "HUMAN", "EVENT", "TERMINATE",
)  # fmt: skip

_WITHOUT_HANDLER = frozenset({
    "HTTP_POLL", "WAIT_FOR_WEBHOOK", "GET_WORKFLOW", "UPDATE_TASK", "TERMINATE_WORKFLOW", "YIELD",
    "BUSINESS_RULE", "SENDGRID", "GRPC", "QUERY_PROCESSOR", "OPS_GENIE", "GET_SIGNED_JWT",
    "UPDATE_SECRET", "CHUNK_TEXT", "LIST_FILES", "PARSE_DOCUMENT", "GET_DOCUMENT",
    "LLM_INDEX_DOCUMENT", "INTEGRATION", "MCP_REMOTE",
})  # fmt: skip


def task_type(word: str) -> TaskType:
    """The listed type, or a worker of that word."""
    if word in TASK_TYPES:
        return TASK_TYPES[word]
    needs = _WORKER
    if word in _WITHOUT_HANDLER:
        needs = "Open-source Conductor has no handler for this type; a worker has to poll for it."
    return TaskType(
        word,
        word,
        WORKERS,
        "extension",
        word.lower() or "task",
        "A worker of that word.",
        {},
        needs,
    )


def menu() -> list[tuple[str, list[TaskType]]]:
    """What the palette offers, group by group; deprecated types are never offered."""
    groups = [group for group in GROUPS if group != DEPRECATED]
    return [(group, [kind for kind in _LISTED if kind.group == group]) for group in groups]


def new_task(word: str, ref: str, name: str | None = None) -> JsonObject:
    """A task of that type, ready to be filled in. Its name is its reference name unless given."""
    task: JsonObject = {
        "name": name or ref,
        "taskReferenceName": ref,
        "type": word,
        "inputParameters": {},
        **copied(task_type(word).default),
    }
    if isinstance(condition := task.get("loopCondition"), str):
        task["loopCondition"] = condition.replace("{ref}", ref)
    return task
