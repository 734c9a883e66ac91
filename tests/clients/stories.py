"""What each official client is played with. The programs beside this file tell the stories; this is
the list they are held to, so that none can fall silent."""

EVERYWHERE = (
    "a_definition_is_registered_once_and_read_back",
    "a_worker_ends_an_execution_for_good_and_its_log_is_kept",
    "a_retry_runs_only_what_failed",
    "a_task_that_asks_for_a_callback_is_polled_again",
    "a_restart_keeps_the_id_and_a_synchronous_update_shows_the_execution",
    "a_rerun_keeps_what_came_before",
    "a_task_ahead_is_skipped",
    "pausing_resuming_and_ending_show_at_once",
    "a_failed_attempt_is_followed_by_another",
    "a_synchronous_start_answers_with_the_run",
    "an_execution_is_found_by_query",
    "a_definition_is_played_on_mocks",
    "refusals_have_a_status_and_a_message",
    "what_is_removed_is_gone_and_a_run_outlives_its_definition",
    "a_task_without_a_sign_of_life_times_out",
)
BY_HAND = ("tasks_are_polled_and_reported_on_by_hand",)
"""The JavaScript SDK polls in its workers alone."""
SIGNALS_AND_LEASES = (
    "signals_are_answered_as_they_are_asked",
    "a_lease_that_is_extended_outlives_its_response_timeout",
)
"""Conductor's Python SDK has had them since 1.3."""

JAVASCRIPT = EVERYWHERE + SIGNALS_AND_LEASES
JAVA = (
    *EVERYWHERE,
    *BY_HAND,
    *SIGNALS_AND_LEASES,
    "many_are_ended_at_once_and_each_is_answered_for",
)
PYTHON = (
    *EVERYWHERE,
    *BY_HAND,
    "executions_are_found_by_correlation_ids",
    "several_are_started_at_once",
    "a_worker_of_a_domain_runs_what_was_started_for_it",
    "a_call_may_be_made_in_a_thread_of_the_client",
    "every_client_of_the_sdk_can_be_made",
    "a_task_definition_keeps_its_schemas_and_is_changed",
    "a_workflow_definition_comes_back_as_it_was_sent",
    "all_that_the_builder_builds_is_taken_and_starts",
    "a_missing_definition_is_no_obstacle_to_registering_it",
    "a_schedule_is_kept_paused_resumed_and_removed",
)
PYTHON_SINCE_1_3 = (
    *PYTHON,
    *SIGNALS_AND_LEASES,
    "a_synchronous_start_answers_in_the_way_that_is_asked_for",
    "workers_register_what_they_are",
    "workers_tell_what_they_do",
    "many_chains_pass_and_no_link_is_left_or_doubled",
    "extending_leases_costs_a_brief_task_nothing",
    "an_async_worker_without_a_sign_of_life_loses_its_task",
)

WITH_CREDENTIALS = (
    "pausing_resuming_and_ending_show_at_once",
    "a_failed_attempt_is_followed_by_another",
)
"""Enough to see both the client and the workers do their work."""
