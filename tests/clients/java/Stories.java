import com.netflix.conductor.common.metadata.tasks.Task;
import com.netflix.conductor.common.metadata.tasks.TaskDef;
import com.netflix.conductor.common.metadata.tasks.TaskResult;
import com.netflix.conductor.common.metadata.workflow.RerunWorkflowRequest;
import com.netflix.conductor.common.metadata.workflow.StartWorkflowRequest;
import com.netflix.conductor.common.metadata.workflow.WorkflowDef;
import com.netflix.conductor.common.run.Workflow;
import com.netflix.conductor.common.run.Workflow.WorkflowStatus;
import com.netflix.conductor.common.run.WorkflowTestRequest;
import com.netflix.conductor.common.run.WorkflowTestRequest.TaskMock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** What the Java client is played with. The name of a story is what it says. */
class Stories {
    interface Story {
        void play() throws Exception;
    }

    private final Shop shop;

    Stories(Shop shop) {
        this.shop = shop;
    }

    Map<String, Story> all() {
        Map<String, Story> all = new LinkedHashMap<>();
        all.put("a_definition_is_registered_once_and_read_back", this::registered);
        all.put("a_worker_ends_an_execution_for_good_and_its_log_is_kept", this::endedForGood);
        all.put("a_retry_runs_only_what_failed", this::retried);
        all.put("a_task_that_asks_for_a_callback_is_polled_again", this::calledBack);
        all.put("a_restart_keeps_the_id_and_a_synchronous_update_shows_the_execution", this::restarted);
        all.put("a_rerun_keeps_what_came_before", this::rerun);
        all.put("a_task_ahead_is_skipped", this::skipped);
        all.put("signals_are_answered_as_they_are_asked", this::signalled);
        all.put("pausing_resuming_and_ending_show_at_once", this::paused);
        all.put("many_are_ended_at_once_and_each_is_answered_for", this::endedTogether);
        all.put("a_failed_attempt_is_followed_by_another", this::triedAgain);
        all.put("a_synchronous_start_answers_with_the_run", this::startedAndAwaited);
        all.put("an_execution_is_found_by_query", this::found);
        all.put("a_definition_is_played_on_mocks", this::mocked);
        all.put("tasks_are_polled_and_reported_on_by_hand", this::byHand);
        all.put("refusals_have_a_status_and_a_message", this::refusals);
        all.put("what_is_removed_is_gone_and_a_run_outlives_its_definition", this::removed);
        all.put("a_task_without_a_sign_of_life_times_out", this::timedOut);
        all.put("a_lease_that_is_extended_outlives_its_response_timeout", this::leased);
        return all;
    }

    private void registered() {
        WorkflowDef found = shop.metadata.getWorkflowDef("leaflet", 1);
        Shop.equal(List.of("layout", "print", "approval", "deliver"),
                found.getTasks().stream().map(task -> task.getTaskReferenceName()).toList());
        Shop.refused(409, () -> shop.metadata.registerWorkflowDef(shop.leaflet()));
        Shop.equal(1, shop.metadata.getTaskDef("shaky").getRetryDelaySeconds());
    }

    private void endedForGood() throws Exception {
        Workflow failed = shop.broken();
        Shop.equal(true, failed.getWorkflowId().matches("[0-9a-f-]{36}"));
        Task print = Shop.last(failed, "print");
        Shop.equal(Task.Status.FAILED_WITH_TERMINAL_ERROR, print.getStatus());
        Shop.equal("the printer is out of order", print.getReasonForIncompletion());
        var log = shop.tasks.getTaskLogs(Shop.last(failed, "layout").getTaskId());
        Shop.equal(List.of("laying out A"), log.stream().map(line -> line.getLog()).toList());
    }

    private void retried() throws Exception {
        Workflow failed = shop.broken();
        shop.repaired = true;
        shop.workflows.retryLastFailedTask(failed.getWorkflowId());
        Workflow waiting = shop.untilApproval(failed.getWorkflowId());
        Shop.equal(Shop.last(failed, "layout").getTaskId(), Shop.last(waiting, "layout").getTaskId());
        shop.workflows.terminateWorkflow(failed.getWorkflowId(), "looked at");
    }

    private void calledBack() throws Exception {
        Shop.equal(true, Shop.last(shop.delivered(), "deliver").getPollCount() >= 2);
    }

    private void restarted() throws Exception {
        String id = shop.delivered().getWorkflowId();
        shop.workflows.restart(id, true);
        shop.untilApproval(id);
        Workflow shown =
                shop.tasks.updateTaskSync(id, "approval", TaskResult.Status.COMPLETED, Map.of("by", "bob"));
        Shop.equal(id, shown.getWorkflowId());
        shop.untilStatus(id, WorkflowStatus.COMPLETED);
    }

    private void rerun() throws Exception {
        Workflow done = shop.delivered();
        RerunWorkflowRequest request = new RerunWorkflowRequest();
        request.setReRunFromTaskId(Shop.last(done, "print").getTaskId());
        String id = done.getWorkflowId();
        Shop.equal(id, shop.workflows.rerunWorkflow(id, request));
        Workflow again = shop.untilApproval(id);
        Shop.equal(Shop.last(done, "layout").getTaskId(), Shop.last(again, "layout").getTaskId());
        shop.workflows.terminateWorkflow(id, "looked at");
    }

    private void skipped() throws Exception {
        shop.repaired = true;
        String id = shop.start("leaflet", Map.of("title", "K", "copies", 1));
        shop.untilApproval(id);
        shop.workflows.skipTaskFromWorkflow(id, "deliver");
        Shop.equal(Task.Status.SKIPPED, Shop.last(shop.approve(id), "deliver").getStatus());
    }

    private void signalled() throws Exception {
        shop.repaired = true;
        String id = shop.start("leaflet", Map.of("title", "S", "copies", 1));
        shop.untilApproval(id);
        var answer = shop.tasks.signal(id, Task.Status.COMPLETED, Map.of("by", "ann"));
        Shop.equal(id, answer.getTargetWorkflowId());
        shop.untilStatus(id, WorkflowStatus.COMPLETED);
        shop.workflows.restart(id, false);
        shop.untilApproval(id);
        shop.tasks.signalAsync(id, Task.Status.COMPLETED, Map.of());
        shop.untilStatus(id, WorkflowStatus.COMPLETED);
    }

    private void paused() {
        shop.repaired = true;
        String id = shop.start("leaflet", Map.of("title", "P", "copies", 1));
        shop.workflows.pauseWorkflow(id);
        Shop.equal(WorkflowStatus.PAUSED, shop.status(id));
        shop.workflows.resumeWorkflow(id);
        Shop.equal(WorkflowStatus.RUNNING, shop.status(id));
        shop.workflows.terminateWorkflow(id, "enough");
        Shop.equal(WorkflowStatus.TERMINATED, shop.status(id));
    }

    private void endedTogether() {
        shop.repaired = true;
        String id = shop.start("leaflet", Map.of("title", "M", "copies", 1));
        var answer = shop.workflows.terminateWorkflows(List.of(id, Shop.NOBODY), "enough");
        Shop.equal(List.of(id), answer.getBulkSuccessfulResults());
        Shop.equal(true, answer.getBulkErrorResults().containsKey(Shop.NOBODY));
        Shop.equal(WorkflowStatus.TERMINATED, shop.status(id));
    }

    private void triedAgain() throws Exception {
        Workflow done = shop.untilStatus(shop.start("shaky", Map.of()), WorkflowStatus.COMPLETED);
        Shop.equal(List.of(Task.Status.FAILED, Task.Status.COMPLETED), Shop.statuses(done));
        Shop.equal(1, done.getTasks().get(1).getRetryCount());
    }

    private void startedAndAwaited() throws Exception {
        shop.repaired = true;
        StartWorkflowRequest request = new StartWorkflowRequest().withName("leaflet").withVersion(1)
                .withInput(Map.of("title", "X", "copies", 1));
        var run = shop.workflows.executeWorkflow(request, "", 5).get(20, TimeUnit.SECONDS);
        Shop.equal("RUNNING", String.valueOf(run.getStatus()));
        shop.workflows.terminateWorkflow(run.getWorkflowId(), "looked at");
    }

    private void found() throws Exception {
        String mark = UUID.randomUUID().toString();
        String id = shop.workflows.startWorkflow(
                new StartWorkflowRequest().withName("shaky").withVersion(1).withCorrelationId(mark));
        String query = "workflowType IN (shaky) AND correlationId = '" + mark + "'";
        var rows = shop.workflows.search(0, 5, "startTime:DESC", "*", query).getResults();
        Shop.equal(List.of(id), rows.stream().map(row -> row.getWorkflowId()).toList());
        shop.untilStatus(id, WorkflowStatus.COMPLETED);
    }

    private void mocked() {
        WorkflowTestRequest request = new WorkflowTestRequest();
        request.setName("leaflet");
        request.setVersion(1);
        request.setWorkflowDef(shop.leaflet());
        request.getWorkflowDef().getTasks().get(0).setRetryCount(1);
        request.setInput(Map.of("title", "T", "copies", 1));
        TaskMock failed = new TaskMock(TaskResult.Status.FAILED, Map.of());
        request.setTaskRefToMockOutput(Map.of(
                "layout", List.of(failed, completed("pages", 4)),
                "print", List.of(completed("printed", 4)),
                "approval", List.of(completed("by", "ann")),
                "deliver", List.of(completed("delivered", 4))));
        Workflow tested = shop.workflows.testWorkflow(request);
        Shop.equal(WorkflowStatus.COMPLETED, tested.getStatus());
        Shop.equal(4, tested.getOutput().get("delivered"));
        Shop.equal(Task.Status.FAILED, tested.getTasks().get(0).getStatus());
    }

    private static TaskMock completed(String key, Object value) {
        return new TaskMock(TaskResult.Status.COMPLETED, Map.of(key, value));
    }

    private void byHand() throws Exception {
        String kind = "hand_" + UUID.randomUUID().toString().substring(0, 6);
        shop.metadata.updateWorkflowDefs(List.of(shop.oneTask(kind)));
        String id = shop.start(kind, Map.of());
        String blue = shop.workflows.startWorkflow(new StartWorkflowRequest().withName(kind)
                .withVersion(1).withTaskToDomain(Map.of(kind, "blue")));
        Shop.equal(1, shop.tasks.getQueueSizeForTask(kind));
        Shop.equal(blue, shop.tasks.pollTask(kind, "me", "blue").getWorkflowInstanceId());
        List<Task> polled = shop.tasks.batchPollTasksByTaskType(kind, "me", 5, 200);
        Shop.equal(List.of(id), polled.stream().map(Task::getWorkflowInstanceId).toList());
        Shop.equal(List.of(), shop.tasks.batchPollTasksByTaskType(kind, "me", 1, 10));
        TaskResult result = new TaskResult(polled.get(0)).addOutputData("x", 1);
        result.setStatus(TaskResult.Status.COMPLETED);
        shop.tasks.updateTask(result);
        shop.tasks.updateTask(result);
        Shop.equal(1, shop.untilStatus(id, WorkflowStatus.COMPLETED).getOutput().get("x"));
        shop.tasks.logMessageForTask(polled.get(0).getTaskId(), "by hand");
        var log = shop.tasks.getTaskLogs(polled.get(0).getTaskId());
        Shop.equal("by hand", log.get(log.size() - 1).getLog());
    }

    private void refusals() throws Exception {
        Shop.refused(404, () -> shop.workflows.getWorkflow(Shop.NOBODY, false));
        Shop.refused(404, () -> shop.metadata.getTaskDef("nobody"));
        Shop.refused(404, () -> shop.metadata.getWorkflowDef("nobody", 1));
        Shop.refused(404, () -> shop.start("nobody", Map.of()));
        TaskDef tooShort = new TaskDef("short");
        tooShort.setOwnerEmail(Shop.AUTHOR);
        tooShort.setTimeoutSeconds(60);
        Shop.refused(400, () -> shop.metadata.registerTaskDefs(List.of(tooShort)));
        String id = shop.start("shaky", Map.of());
        shop.untilStatus(id, WorkflowStatus.COMPLETED);
        Shop.refused(409, () -> shop.workflows.pauseWorkflow(id));
    }

    private void removed() {
        String name = "gone_" + UUID.randomUUID().toString().substring(0, 6);
        shop.metadata.updateWorkflowDefs(List.of(shop.oneTask(name)));
        String id = shop.start(name, Map.of());
        shop.metadata.unregisterWorkflowDef(name, 1);
        Shop.refused(404, () -> shop.metadata.getWorkflowDef(name, 1));
        Shop.equal(id, shop.execution(id).getWorkflowId());
        shop.workflows.deleteWorkflow(id, false);
        Shop.refused(404, () -> shop.execution(id));
    }

    private void timedOut() throws Exception {
        Workflow ended = shop.untilStatus(
                shop.begun.get("silent"), WorkflowStatus.FAILED, WorkflowStatus.TIMED_OUT);
        Shop.equal(List.of(Task.Status.TIMED_OUT), Shop.statuses(ended));
    }

    private void leased() throws Exception {
        Workflow done = shop.untilStatus(shop.begun.get("leased"), WorkflowStatus.COMPLETED);
        Shop.equal(List.of(Task.Status.COMPLETED), Shop.statuses(done));
    }
}
