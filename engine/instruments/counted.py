"""What is counted of rare events, and what each metric tells. Names and labels are Conductor's, where
it has some."""

from collections.abc import Mapping

Told = tuple[tuple[str, str], ...]
"""Labels, each with the fact that its value is."""

NO_DOMAIN = "NO_DOMAIN"
"""Conductor's word for a poll without a domain."""

_OF_EVENT: Told = (("event", "event"), ("handler", "handler"), ("action", "action"))
_QUEUE: Told = (("queueType", "queue_type"), ("queueName", "queue_name"))
_OWNED: Told = (("workflowName", "name"), ("ownerApp", "owner"))
_TASK: Told = (("taskType", "task_type"),)
_HOOK: Told = (("notificationType", "topic"), ("name", "name"))

COUNTED: Mapping[str, Mapping[str, Told]] = {
    "start.refused": {"workflow_start_error_total": _OWNED},
    "execution.archived": {
        "workflow_archived_total": (("workflowName", "name"), ("workflowStatus", "status"))
    },
    "payload.used": {
        "external_payload_storage_usage_total": (
            ("name", "name"),
            ("operation", "operation"),
            ("payloadType", "payload_type"),
        )
    },
    "poll.refused": {
        "task_poll_error_total": (*_TASK, ("domain", "domain"), ("exception", "exception"))
    },
    "task.rate_limited": {"task_rate_limited_total": _TASK},
    "task.concurrency_limited": {"task_concurrent_execution_limited_total": _TASK},
    "event.received": {"event_queue_messages_processed_total": _QUEUE},
    "event.handled": {"event_queue_messages_handled_total": _QUEUE},
    "event.failed": {"event_queue_messages_error_total": _QUEUE},
    "action.done": {"event_execution_success_total": _OF_EVENT},
    "action.failed": {
        "event_execution_error_total": (*_OF_EVENT, ("exception", "exception")),
        "event_action_error_total": (
            ("action", "action"),
            ("entityName", "entity"),
            ("event", "event"),
        ),
    },
    "schedule.failed": {"scheduler_handler_error_total": ()},
    "hook.delivered": {"webhook_publish_success_total": (*_HOOK, ("status", "status"))},
    "hook.failed": {"webhook_publish_failure_total": (*_HOOK, ("errorType", "error_type"))},
    "tokens.used": {"tokens_total": (("model", "model"), ("kind", "kind"))},
    "evaluator.killed": {"evaluator_killed_total": ()},
    "egress.denied": {"egress_denied_total": ()},
    "secret.masked": {"redaction_hits_total": ()},
}
"""What is said -> the counters that go up by one (or by the fact `amount`) for it."""

HELP = {
    "activity_execution_total": "Attempts that reached outside the engine, by outcome.",
    "activity_retry_total": "Those of them that were not the first.",
    "checkpoint_recovery_latency": "Seconds to take up what the database holds.",
    "checkpoint_recovery_total": "How often that was done.",
    "checkpoint_write_latency": "Seconds of a commit, which may hold many steps.",
    "checkpoint_write_total": "Commits.",
    "egress_denied_total": "Calls to addresses that the policy does not allow.",
    "evaluator_killed_total": "Script processes that were ended for their script's sake.",
    "event_action_error_total": "Actions of event handlers that failed, by what they were about.",
    "event_execution_error_total": "Actions of event handlers that failed.",
    "event_execution_success_total": "Actions of event handlers that were done.",
    "event_queue_depth": "Messages that wait for their event queue, counted up to 10000.",
    "event_queue_messages_error_total": "Messages with which a handler could not be done.",
    "event_queue_messages_handled_total": "Messages that every handler is done with.",
    "event_queue_messages_processed_total": "Messages that were given to handlers.",
    "external_payload_storage_usage_total": "Payloads written to and read from files.",
    "outbox_pending": "Messages to the outside that wait, counted up to 10000.",
    "redaction_hits_total": "Reports and payloads in which a secret was masked.",
    "reprise_workflow_total": "What happened to workflows, by name.",
    "reprise_task_total": "Tasks that ended, by type and status.",
    "reprise_event_total": "Other things that happened in the engine.",
    "scheduler_handler_batch": "Slots of schedules that were served in one round.",
    "scheduler_handler_error_total": "Slots of schedules that started nothing.",
    "scheduler_handler_seconds": "Seconds to serve a slot of a schedule.",
    "step_execution_total": "Attempts that ended, by outcome.",
    "step_failure_total": "Attempts that failed or timed out.",
    "step_retry_total": "Attempts that ended and were not the first.",
    "task_concurrent_execution_limited_total": "Hand-outs that waited for a task in progress.",
    "task_execution_seconds": "From taken by a worker to its end.",
    "task_in_progress": "Tasks that workers have in hand.",
    "task_pending_time": "Milliseconds that the first task of a queue has waited.",
    "task_poll_count_total": "How often workers asked, by domain.",
    "task_poll_error_total": "Polls that were refused.",
    "task_poll_total": "How often workers asked.",
    "task_queue_depth": "Tasks that wait for a worker.",
    "task_queue_wait_seconds": "From scheduled to taken by a worker.",
    "task_rate_limited_total": "Hand-outs that waited for a rate limit.",
    "task_response_timeout_total": "Attempts whose worker was not heard of in time.",
    "task_timeout_total": "Attempts that took too long otherwise.",
    "task_update_conflict_total": "Reports that came too late, by the task's status.",
    "tasks_in_workflow": "Attempts that a workflow had when it ended.",
    "timer_lag_seconds": "How long the first timer has been due.",
    "tokens_total": "Tokens that language models counted, by kind.",
    "webhook_publish_failure_total": "Statuses that a listener did not take; they are sent again.",
    "webhook_publish_success_total": "Statuses that a listener took.",
    "workflow_archived_total": "Workflows that went into the archive.",
    "workflow_completed_total": "Workflows that completed.",
    "workflow_duration_seconds": "From start to end, however they ended.",
    "workflow_execution_seconds": "From start to end, of workflows that completed.",
    "workflow_failed_total": "Workflows that ended otherwise than completed.",
    "workflow_failure_total": "Workflows that ended otherwise than completed, by status.",
    "workflow_running": "Workflows that have not ended.",
    "workflow_server_error_total": "Faults of the engine, or of what it stands on.",
    "workflow_start_error_total": "Starts that were refused.",
    "workflow_start_success_total": "Workflows that were started.",
    "workflow_started_total": "Workflows that were started.",
    "workflow_stuck_total": "Workflows that do not move on, by what is wrong.",
    "workflow_waiting_total": "Workflows that only wait, by what for; counted up to 10000.",
}
