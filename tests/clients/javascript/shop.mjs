// A print shop on Conductor's JavaScript SDK: its clients, its definitions, and waiting for what comes.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { ConductorWorkflow, OrkesClients, TaskType, simpleTask } from "@io-orkes/conductor-javascript";

const PATIENCE_SECONDS = 45;
const TASK_DEFINITIONS = [
  { name: "shaky", retryCount: 2, retryDelaySeconds: 1 },
  { name: "leased", retryCount: 0, responseTimeoutSeconds: 5, timeoutSeconds: 60 },
  { name: "silent", retryCount: 0, responseTimeoutSeconds: 2, timeoutSeconds: 60 },
];

export class Shop {
  static async at(serverUrl) {
    const shop = new Shop();
    // Credentials, where there are any, are read from the environment by the SDK itself.
    shop.clients = await OrkesClients.from({ serverUrl });
    shop.workflows = shop.clients.getWorkflowClient();
    shop.metadata = shop.clients.getMetadataClient();
    shop.tasks = shop.clients.getTaskClient();
    shop.repaired = false;
    shop.begun = {};
    return shop;
  }

  // Register what several stories use, and begin what is slow.
  async open() {
    await this.leaflet().register(true);
    for (const definition of TASK_DEFINITIONS) {
      await this.metadata.registerTask(definition);
      await this.oneTask(definition.name);
    }
    for (const kind of ["silent", "leased"]) this.begun[kind] = await this.start(kind);
  }

  // Layout, print, an approval, delivery.
  leaflet() {
    const { title, copies } = { title: "${workflow.input.title}", copies: "${workflow.input.copies}" };
    return new ConductorWorkflow(this.workflows, "leaflet", 1)
      .add([
        simpleTask("layout", "layout", { title, copies }),
        simpleTask("print", "print", { pages: "${layout.output.pages}" }),
        { name: "approval", taskReferenceName: "approval", type: TaskType.WAIT, inputParameters: {} },
        simpleTask("deliver", "deliver", { printed: "${print.output.printed}" }),
      ])
      .outputParameters({ delivered: "${deliver.output.delivered}" });
  }

  // A definition of a single task, which has the task's own name.
  async oneTask(kind) {
    await new ConductorWorkflow(this.workflows, kind, 1).add(simpleTask("only", kind, {})).register(true);
  }

  start(name, input = {}, more = {}) {
    return this.workflows.startWorkflow({ name, version: 1, input, ...more });
  }

  execution(id) {
    return this.workflows.getWorkflow(id, true);
  }

  async status(id) {
    return (await this.workflows.getWorkflowStatus(id, false, false)).status;
  }

  // Look again until there is something.
  async until(what, look) {
    for (const end = Date.now() + 1000 * PATIENCE_SECONDS; Date.now() < end; await pause(100)) {
      const found = await look();
      if (found) return found;
    }
    throw new Error(`not within ${PATIENCE_SECONDS} s: ${what}`);
  }

  untilStatus(id, ...statuses) {
    return this.until(`${id} is ${statuses.join(" or ")}`, async () => {
      const found = await this.execution(id);
      return statuses.includes(found.status) && found;
    });
  }

  untilApproval(id) {
    return this.until(`${id} waits for its approval`, async () => {
      const found = await this.execution(id);
      return last(found, "approval")?.status === "IN_PROGRESS" && found;
    });
  }

  async approve(id) {
    await this.untilApproval(id);
    await this.workflows.updateTaskByRefName("approval", id, "COMPLETED", { by: "ann" });
    return this.untilStatus(id, "COMPLETED");
  }

  // A leaflet that has been delivered.
  async delivered() {
    this.repaired = true;
    const done = await this.approve(await this.start("leaflet", { title: "A", copies: 2 }));
    assert.equal(done.output.delivered, 8);
    return done;
  }

  // A leaflet for which the printer was out of order.
  async broken() {
    this.repaired = false;
    return this.untilStatus(await this.start("leaflet", { title: "A", copies: 2 }), "FAILED");
  }
}

// The newest attempt of a task.
export function last(execution, ref) {
  return execution.tasks.findLast((task) => task.referenceTaskName === ref);
}

// How each attempt of an execution's tasks has ended.
export function statuses(execution) {
  return execution.tasks.map((task) => task.status);
}

// A refusal, which must say why.
export async function refused(call, words) {
  await assert.rejects(call, (refusal) => {
    assert.match(refusal.message, words);
    return true;
  });
}
