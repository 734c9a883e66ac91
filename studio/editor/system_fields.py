"""The fields of operators and system tasks, as a table by type word. No code decides here."""

from studio.editor.form_field import ADVANCED, Field, Kind, given

REQUEST = ("inputParameters", "http_request")
_KAFKA = ("inputParameters", "kafka_request")
_START = ("inputParameters", "startWorkflow")
_SUB = "subWorkflowParam"
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_LANGUAGE = ("evaluatorType",)
_SCRIPTS = ("javascript", "graaljs")
_IDEMPOTENCY = ("FAIL", "RETURN_EXISTING", "FAIL_ON_RUNNING")

INPUTS = Field(
    ("inputParameters",), "Input", Kind.MAP,
    "What the task is given; values may read earlier tasks, such as `${charge.output.id}`.",
)  # fmt: skip

JOIN_ON = Field(
    ("joinOn",), "Waits for", Kind.REFS,
    "The tasks that must end first, usually the last of each branch; none means no waiting.",
)  # fmt: skip

ASYNC_COMPLETE = Field(
    ("asyncComplete",), "Wait for completion from outside", Kind.BOOL,
    "The task stays in progress after its action until somebody completes it.", default=False, group=ADVANCED,
)  # fmt: skip

_DYNAMIC_STYLE = ("dynamicForkTasksParam",)

SYSTEM_FIELDS: dict[str, tuple[Field, ...]] = {
    "SIMPLE": (INPUTS,),
    "DYNAMIC": (
        Field(("dynamicTaskNameParam",), "Parameter with the task name", Kind.TEXT,
              "The input key whose value names the task to run.", required=True),
        INPUTS,
    ),
    "SWITCH": (
        Field(_LANGUAGE, "Decides by", Kind.CHOICE, "The value of an input, or a script that returns the case.",
              required=True, choices=("value-param", "javascript", "graaljs")),
        Field(("expression",), "Input to look at", Kind.TEXT, "The input key whose value is the case; a name, not a placeholder.",
              required=True, shown_when=(_LANGUAGE, ("value-param",))),
        Field(("expression",), "Script", Kind.JAVASCRIPT, "JavaScript whose last value is the case; `$` holds the inputs.",
              required=True, shown_when=(_LANGUAGE, _SCRIPTS)),
        INPUTS,
    ),
    "DECISION": (
        Field(("caseValueParam",), "Input to look at", Kind.TEXT, "The input key whose value is the case."),
        Field(("caseExpression",), "Script", Kind.JAVASCRIPT, "Wins over the input key when both are set; `$` holds the inputs."),
        INPUTS,
    ),
    "FORK_JOIN": (INPUTS,),
    "FORK_JOIN_DYNAMIC": (
        Field(given("forkTaskInputs"), "List to fork over", Kind.EXPRESSION, "One child runs for each element; a map element becomes its input.",
              shown_when=(_DYNAMIC_STYLE, (None,))),
        Field(given("forkTaskName"), "Task name", Kind.EXPRESSION, "The task that runs for each element.", shown_when=(_DYNAMIC_STYLE, (None,))),
        Field(given("forkTaskType"), "Task type", Kind.TEXT, "The type of the children.", default="SIMPLE", shown_when=(_DYNAMIC_STYLE, (None,))),
        Field(given("forkTaskWorkflow"), "Workflow", Kind.WORKFLOW, "A workflow to run for each element in place of a task.",
              shown_when=(_DYNAMIC_STYLE, (None,))),
        Field(given("forkTaskWorkflowVersion"), "Workflow version", Kind.VERSION, "As text; empty means the latest.",
              shown_when=(_DYNAMIC_STYLE, (None,))),
        Field(_DYNAMIC_STYLE, "Parameter with the tasks", Kind.TEXT, "The input key that holds a list of whole tasks; for children of several types.",
              group=ADVANCED),
        Field(("dynamicForkTasksInputParamName",), "Parameter with their inputs", Kind.TEXT,
              "The input key that holds a map from reference name to input.", group=ADVANCED),
        Field(("dynamicForkJoinTasksParam",), "Parameter with tasks and inputs", Kind.TEXT, "The older form of the two keys above.", group=ADVANCED),
        INPUTS,
    ),
    "JOIN": (
        JOIN_ON,
        Field(("joinMode",), "Checks", Kind.CHOICE, "How eagerly Conductor looks again; this engine looks at each change.",
              default="ASYNC", choices=("SYNC", "ASYNC"), group=ADVANCED),
    ),
    "EXCLUSIVE_JOIN": (
        JOIN_ON,
        Field(("defaultExclusiveJoinTask",), "Otherwise takes", Kind.REFS, "Whose output it takes when none of the others ran."),
    ),
    "DO_WHILE": (
        Field(("loopCondition",), "Repeat while", Kind.JAVASCRIPT,
              "JavaScript; `$.REF` is a body task's output, `$.LOOP.iteration` the round; empty to go through a list only.", required=True),
        Field(("items",), "Items", Kind.EXPRESSION, "A list to go through, one item a round; read it as `${LOOP.output.loopItem}`."),
        Field(given("keepLastN"), "Rounds to keep", Kind.INT, "Earlier rounds are deleted; empty keeps all.", group=ADVANCED),
        INPUTS,
    ),
    "SUB_WORKFLOW": (
        Field((_SUB, "name"), "Workflow", Kind.WORKFLOW, "The workflow to run; a placeholder may name it.", required=True),
        Field((_SUB, "version"), "Version", Kind.VERSION, "Empty means the latest; a name that is a placeholder needs a number here."),
        INPUTS,
        Field((_SUB, "taskToDomain"), "Task to domain", Kind.MAP, "Which worker domain serves which task name.", group=ADVANCED),
        Field((_SUB, "priority"), "Priority", Kind.EXPRESSION, "A number; higher goes first.", group=ADVANCED),
        Field((_SUB, "idempotencyKey"), "Idempotency key", Kind.EXPRESSION, "Carried into the task; open-source Conductor does not enforce it.", group=ADVANCED),
        Field((_SUB, "idempotencyStrategy"), "When the key is known", Kind.CHOICE, "What a second start with the same key does.",
              choices=_IDEMPOTENCY, group=ADVANCED),
        Field((_SUB, "workflowDefinition"), "Definition in place", Kind.JSON, "A whole definition, or a placeholder that holds one.", group=ADVANCED),
    ),
    "START_WORKFLOW": (
        Field((*_START, "name"), "Workflow", Kind.WORKFLOW, "The workflow to start.", required=True),
        Field((*_START, "version"), "Version", Kind.VERSION, "Empty means the latest."),
        Field((*_START, "input"), "Its input", Kind.MAP, "What the started workflow is given."),
        Field((*_START, "correlationId"), "Correlation id", Kind.EXPRESSION, "Empty means that of this execution.", group=ADVANCED),
        Field((*_START, "priority"), "Priority", Kind.EXPRESSION, "A number from 0 to 99; higher goes first.", group=ADVANCED),
        Field((*_START, "taskToDomain"), "Task to domain", Kind.MAP, "Which worker domain serves which task name.", group=ADVANCED),
    ),
    "WAIT": (
        Field(given("duration"), "For", Kind.DURATION, "Such as `90 seconds` or `1d 2h`; leave both empty to wait for a signal."),
        Field(given("until"), "Until", Kind.DATE, "Such as `2030-05-01 09:00 UTC`; not together with a duration."),
    ),
    "HUMAN": (
        Field(given("assignee"), "Assignee", Kind.EXPRESSION, "Who should answer; shown on the list of waiting tasks."),
        INPUTS,
    ),
    "EVENT": (
        Field(("sink",), "Sink", Kind.TEXT, "`conductor`, `conductor:NAME`, or `PROVIDER:QUEUE`.", required=True),
        INPUTS,
        ASYNC_COMPLETE,
    ),
    "KAFKA_PUBLISH": (
        Field((*_KAFKA, "bootStrapServers"), "Servers", Kind.EXPRESSION, "Where the cluster is, such as `kafka-1:9092`.", required=True),
        Field((*_KAFKA, "topic"), "Topic", Kind.EXPRESSION, "The topic to write to.", required=True),
        Field((*_KAFKA, "value"), "Value", Kind.JSON, "The message; sent as JSON.", required=True),
        Field((*_KAFKA, "key"), "Key", Kind.EXPRESSION, "The message key.", group=ADVANCED),
        Field((*_KAFKA, "keySerializer"), "Key serializer", Kind.TEXT, "A class name; text unless you name another.", group=ADVANCED),
        Field((*_KAFKA, "headers"), "Headers", Kind.MAP, "Headers of the message.", group=ADVANCED),
        Field((*_KAFKA, "requestTimeoutMs"), "Request timeout", Kind.MILLISECONDS, "How long the broker may take.", default=100, group=ADVANCED),
        Field((*_KAFKA, "maxBlockMs"), "Longest block", Kind.MILLISECONDS, "How long sending may wait for room.", default=500, group=ADVANCED),
        ASYNC_COMPLETE,
    ),
    "SET_VARIABLE": (
        Field(("inputParameters",), "Variables", Kind.MAP, "Each name is set as a whole and read as `${workflow.variables.NAME}`."),
    ),
    "TERMINATE": (
        Field(given("terminationStatus"), "Ends as", Kind.CHOICE, "The status of the whole execution.", required=True,
              choices=("COMPLETED", "FAILED", "TERMINATED")),
        Field(given("terminationReason"), "Reason", Kind.EXPRESSION, "Kept with the execution, also when it completes."),
        Field(given("workflowOutput"), "Workflow output", Kind.JSON, "The output of the execution; a map, or one value."),
    ),
    "NOOP": (),
    "INLINE": (
        Field(given("evaluatorType"), "Language", Kind.CHOICE, "How the expression is read.", default="javascript",
              choices=("javascript", "graaljs", "value-param")),
        Field(given("expression"), "Script", Kind.JAVASCRIPT, "Its last value becomes `output.result`; `$` holds the other inputs.",
              required=True, shown_when=(given("evaluatorType"), (None, *_SCRIPTS))),
        Field(given("expression"), "Input to take", Kind.TEXT, "The input key whose value becomes `output.result`.",
              required=True, shown_when=(given("evaluatorType"), ("value-param",))),
        INPUTS,
    ),
    "LAMBDA": (
        Field(given("scriptExpression"), "Script", Kind.JAVASCRIPT, "The body of a function; it has to `return` its value.", required=True),
        INPUTS,
    ),
    "JSON_JQ_TRANSFORM": (
        Field(given("queryExpression"), "Program", Kind.JQ, "`.` is the whole input; the first result becomes `output.result`.", required=True),
        INPUTS,
    ),
    "PULL_WORKFLOW_MESSAGES": (
        Field(given("batchSize"), "At most", Kind.INT, "How many messages to take at once, 100 at most.", default=1),
        Field(given("blocking"), "Wait for a message", Kind.BOOL, "Otherwise the task completes at once, perhaps with none.", default=True),
    ),
    "JDBC": (
        Field(given("connectionId"), "Connection", Kind.TEXT, "The configured connection to use.", required=True),
        Field(given("type"), "Statement type", Kind.CHOICE, "SELECT gives rows, UPDATE a count.", choices=("SELECT", "UPDATE")),
        Field(given("statement"), "Statement", Kind.SQL, "Mark each parameter with `?`.", required=True),
        Field(given("parameters"), "Parameters", Kind.LIST, "The values for the marks, in their order."),
        Field(given("expectedUpdateCount"), "Expected count", Kind.INT, "An update that changes another number of rows is rolled back.",
              shown_when=(given("type"), ("UPDATE",))),
        Field(given("schemaName"), "Schema", Kind.TEXT, "The schema to use on the connection.", group=ADVANCED),
    ),
}  # fmt: skip


def http_fields(request: tuple[str, ...]) -> tuple[Field, ...]:
    """A request lies under http_request, or straight among the inputs: authors use both."""
    return (
        Field((*request, "method"), "Method", Kind.CHOICE, "In capital letters.", required=True, choices=_METHODS),
        Field((*request, "uri"), "Address", Kind.EXPRESSION, "The whole address; values may stand in it.", required=True),
        Field((*request, "headers"), "Headers", Kind.MAP, "Sent as they are; a key without a value is left out."),
        Field((*request, "body"), "Body", Kind.JSON, "A map or list is sent as JSON, a text as it is.",
              shown_when=((*request, "method"), ("POST", "PUT", "PATCH", "DELETE"))),
        Field((*request, "contentType"), "Content type", Kind.TEXT, "What the body is.", default="application/json", group=ADVANCED),
        Field((*request, "accept"), "Accept", Kind.TEXT, "What the response may be.", default="application/json", group=ADVANCED),
        Field((*request, "connectionTimeOut"), "Connection timeout", Kind.MILLISECONDS, "How long connecting may take.", default=3000, group=ADVANCED),
        Field((*request, "readTimeOut"), "Read timeout", Kind.MILLISECONDS, "How long the response may take; then the task fails.", default=3000, group=ADVANCED),
        ASYNC_COMPLETE,
    )  # fmt: skip
