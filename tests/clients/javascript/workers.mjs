// The shop's workers. They run in the process that plays, as the JavaScript SDK's workers do.

import { setTimeout as pause } from "node:timers/promises";
import { NonRetryableException, getTaskContext } from "@io-orkes/conductor-javascript";

const LONG_SECONDS = 8; // more than the response timeout of what is leased
const TOO_LONG_SECONDS = 120;

const completed = (outputData) => ({ status: "COMPLETED", outputData });

export function workersOf(shop) {
  return [
    {
      taskDefName: "layout",
      concurrency: 2,
      async execute({ inputData }) {
        getTaskContext()?.addLog(`laying out ${inputData.title}`);
        return completed({ pages: 4 * inputData.copies });
      },
    },
    {
      taskDefName: "print",
      async execute({ inputData }) {
        if (!shop.repaired) throw new NonRetryableException("the printer is out of order");
        return completed({ printed: inputData.pages });
      },
    },
    {
      taskDefName: "deliver",
      async execute({ pollCount, inputData }) {
        if (pollCount >= 2) return completed({ delivered: inputData.printed });
        return { status: "IN_PROGRESS", callbackAfterSeconds: 1, outputData: { on_the_road: true } };
      },
    },
    {
      taskDefName: "shaky",
      async execute({ retryCount }) {
        if (retryCount === 0) throw new Error("the first attempt never works");
        return completed({ attempt: retryCount });
      },
    },
    {
      taskDefName: "leased",
      leaseExtendEnabled: true,
      async execute() {
        await pause(1000 * LONG_SECONDS);
        return completed({ took: LONG_SECONDS });
      },
    },
    {
      taskDefName: "silent",
      async execute() {
        await pause(1000 * TOO_LONG_SECONDS);
        return completed({});
      },
    },
  ];
}
