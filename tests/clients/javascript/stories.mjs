// What the JavaScript SDK is played with. The name of a story is what it says.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { last, refused, statuses } from "./shop.mjs";

const mock = (output) => ({ status: "COMPLETED", output });

export const stories = {
  async a_definition_is_registered_once_and_read_back(shop) {
    const found = await shop.metadata.getWorkflowDef("leaflet");
    const refs = found.tasks.map((task) => task.taskReferenceName);
    assert.deepEqual(refs, ["layout", "print", "approval", "deliver"]);
    await refused(() => shop.metadata.registerWorkflowDef(shop.leaflet().toWorkflowDef(), false), /leaflet/);
    assert.equal((await shop.metadata.getTask("shaky")).retryDelaySeconds, 1);
  },

  async a_worker_ends_an_execution_for_good_and_its_log_is_kept(shop) {
    const failed = await shop.broken();
    assert.match(failed.workflowId, /^[0-9a-f-]{36}$/);
    assert.equal(last(failed, "print").status, "FAILED_WITH_TERMINAL_ERROR");
    assert.match(last(failed, "print").reasonForIncompletion, /out of order/);
    const log = await shop.tasks.getTaskLogs(last(failed, "layout").taskId);
    assert.deepEqual(log.map((line) => line.log), ["laying out A"]);
  },

  async a_retry_runs_only_what_failed(shop) {
    const failed = await shop.broken();
    shop.repaired = true;
    await shop.workflows.retry(failed.workflowId, false);
    const waiting = await shop.untilApproval(failed.workflowId);
    assert.equal(last(waiting, "layout").taskId, last(failed, "layout").taskId);
    await shop.workflows.terminate(failed.workflowId, "looked at");
  },

  async a_task_that_asks_for_a_callback_is_polled_again(shop) {
    assert(last(await shop.delivered(), "deliver").pollCount >= 2);
  },

  async a_restart_keeps_the_id_and_a_synchronous_update_shows_the_execution(shop) {
    const { workflowId } = await shop.delivered();
    await shop.workflows.restart(workflowId, true);
    await shop.untilApproval(workflowId);
    const shown = await shop.workflows.updateTaskSync("approval", workflowId, "COMPLETED", { by: "bob" });
    assert.equal(shown.workflowId, workflowId);
    await shop.untilStatus(workflowId, "COMPLETED");
  },

  async a_rerun_keeps_what_came_before(shop) {
    const done = await shop.delivered();
    const request = { reRunFromTaskId: last(done, "print").taskId };
    assert.equal(await shop.workflows.reRun(done.workflowId, request), done.workflowId);
    const again = await shop.untilApproval(done.workflowId);
    assert.equal(last(again, "layout").taskId, last(done, "layout").taskId);
    await shop.workflows.terminate(done.workflowId, "looked at");
  },

  async a_task_ahead_is_skipped(shop) {
    shop.repaired = true;
    const id = await shop.start("leaflet", { title: "K", copies: 1 });
    await shop.untilApproval(id);
    await shop.workflows.skipTasksFromWorkflow(id, "deliver", {});
    assert.equal(last(await shop.approve(id), "deliver").status, "SKIPPED");
  },

  async signals_are_answered_as_they_are_asked(shop) {
    shop.repaired = true;
    const id = await shop.start("leaflet", { title: "S", copies: 1 });
    await shop.untilApproval(id);
    const answer = await shop.workflows.signal(id, "COMPLETED", { by: "ann" }, "TARGET_WORKFLOW");
    assert.deepEqual([answer.responseType, answer.targetWorkflowId], ["TARGET_WORKFLOW", id]);
    await shop.untilStatus(id, "COMPLETED");
    await shop.workflows.restart(id, false);
    await shop.untilApproval(id);
    await shop.workflows.signalAsync(id, "COMPLETED", {});
    await shop.untilStatus(id, "COMPLETED");
  },

  async pausing_resuming_and_ending_show_at_once(shop) {
    shop.repaired = true;
    const id = await shop.workflows.startWorkflowByName("leaflet", { title: "P", copies: 1 }, 1, "paused");
    await shop.workflows.pause(id);
    assert.equal(await shop.status(id), "PAUSED");
    await shop.workflows.resume(id);
    assert.equal(await shop.status(id), "RUNNING");
    await shop.workflows.terminate(id, "enough");
    assert.equal(await shop.status(id), "TERMINATED");
  },

  async a_failed_attempt_is_followed_by_another(shop) {
    const done = await shop.untilStatus(await shop.start("shaky"), "COMPLETED");
    assert.deepEqual(statuses(done), ["FAILED", "COMPLETED"]);
    assert.match(done.tasks[0].reasonForIncompletion, /never works/);
  },

  async a_synchronous_start_answers_with_the_run(shop) {
    shop.repaired = true;
    const request = { name: "leaflet", version: 1, input: { title: "X", copies: 1 } };
    const run = await shop.workflows.executeWorkflow(request, "leaflet", 1, randomUUID());
    assert.equal(run.status, "RUNNING");
    await shop.workflows.terminate(run.workflowId, "looked at");
  },

  async an_execution_is_found_by_query(shop) {
    const mark = randomUUID();
    const id = await shop.start("shaky", {}, { correlationId: mark });
    const query = `workflowType IN (shaky) AND correlationId = '${mark}'`;
    const found = await shop.workflows.search(0, 5, query, "*", "startTime:DESC");
    assert.deepEqual(found.results.map((row) => row.workflowId), [id]);
    await shop.untilStatus(id, "COMPLETED");
  },

  async a_definition_is_played_on_mocks(shop) {
    const workflowDef = shop.leaflet().toWorkflowDef();
    workflowDef.tasks[0].retryCount = 1;
    const tested = await shop.workflows.testWorkflow({
      name: "leaflet",
      version: 1,
      workflowDef,
      input: { title: "T", copies: 1 },
      taskRefToMockOutput: {
        layout: [{ status: "FAILED", output: {} }, mock({ pages: 4 })],
        print: [mock({ printed: 4 })],
        approval: [mock({})],
        deliver: [mock({ delivered: 4 })],
      },
    });
    assert.deepEqual([tested.status, tested.output.delivered], ["COMPLETED", 4]);
    assert.deepEqual(statuses(tested).slice(0, 2), ["FAILED", "COMPLETED"]);
  },

  async refusals_have_a_status_and_a_message(shop) {
    const nobody = randomUUID();
    await refused(() => shop.workflows.getExecution(nobody), new RegExp(nobody));
    await refused(() => shop.metadata.getTask("nobody"), /nobody/);
    await refused(() => shop.metadata.getWorkflowDef("nobody"), /nobody/);
    await refused(() => shop.start("nobody"), /nobody/);
    await refused(() => shop.start("leaflet", {}, { priority: 100 }), /Validation failed/);
    await refused(() => shop.metadata.registerTask({ name: "short", timeoutSeconds: 60 }), /Validation failed/);
    const done = await shop.untilStatus(await shop.start("shaky"), "COMPLETED");
    await refused(() => shop.workflows.pause(done.workflowId), /has ended/);
  },

  async what_is_removed_is_gone_and_a_run_outlives_its_definition(shop) {
    const name = `gone_${randomUUID().slice(0, 6)}`;
    await shop.oneTask(name);
    await shop.metadata.registerTask({ name });
    const id = await shop.start(name);
    await shop.metadata.unregisterWorkflow(name, 1);
    await shop.metadata.unregisterTask(name);
    await refused(() => shop.metadata.getWorkflowDef(name), new RegExp(name));
    await refused(() => shop.metadata.getTask(name), new RegExp(name));
    assert.equal((await shop.execution(id)).workflowId, id);
    await shop.workflows.deleteWorkflow(id, false);
    await refused(() => shop.workflows.getExecution(id), new RegExp(id));
  },

  async a_task_without_a_sign_of_life_times_out(shop) {
    const ended = await shop.untilStatus(shop.begun.silent, "FAILED", "TIMED_OUT");
    assert.deepEqual(statuses(ended), ["TIMED_OUT"]);
  },

  async a_lease_that_is_extended_outlives_its_response_timeout(shop) {
    const done = await shop.untilStatus(shop.begun.leased, "COMPLETED");
    assert.deepEqual(statuses(done), ["COMPLETED"]);
    assert(last(done, "only").outputData.took > last(done, "only").responseTimeoutSeconds);
  },
};
