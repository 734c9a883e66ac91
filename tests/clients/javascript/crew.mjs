// Workers that leave a trace: node crew.mjs FOLDER URL
//
// FOLDER/trace has a line for each task as it is taken up and one as it is done: the word, the task's
// id, and the process that works on it.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { OrkesClients, TaskHandler, noopLogger } from "@io-orkes/conductor-javascript";

const [folder, serverUrl] = process.argv.slice(2);
const note = (word, { taskId }) => appendFileSync(join(folder, "trace"), `${word} ${taskId} ${process.pid}\n`);

const worker = (taskDefName, takesItsTime) => ({
  taskDefName,
  concurrency: 3,
  async execute(task) {
    note("begun", task);
    if (takesItsTime) await pause(1000 * task.inputData.seconds);
    note("done", task);
    return { status: "COMPLETED", outputData: { by: process.pid } };
  },
});

const clients = await OrkesClients.from({ serverUrl });
const workers = [worker("step", true), worker("async_step", false)];
const crew = new TaskHandler({ client: clients.getClient(), workers, scanForDecorated: false, logger: noopLogger });
await crew.startWorkers();
