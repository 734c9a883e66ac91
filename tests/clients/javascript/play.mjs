// Play stories with the JavaScript SDK against a server: node play.mjs URL [STORY ...]
//
// Says `told STORY`, or `broken STORY` and why, on a line of its own for each.

import { TaskHandler, noopLogger } from "@io-orkes/conductor-javascript";
import { Shop } from "./shop.mjs";
import { stories } from "./stories.mjs";
import { workersOf } from "./workers.mjs";

const [url, ...names] = process.argv.slice(2);
const shop = await Shop.at(url);
await shop.open();
const workers = workersOf(shop);
const client = shop.clients.getClient();
const crew = new TaskHandler({ client, workers, scanForDecorated: false, logger: noopLogger });
await crew.startWorkers();
for (const [name, story] of Object.entries(stories)) {
  if (names.length && !names.includes(name)) continue;
  try {
    await story(shop);
    console.log(`told ${name}`);
  } catch (reason) {
    console.log(`broken ${name} ${JSON.stringify(reason.stack)}`);
  }
}
process.exit(0); // the silent worker would keep the process for a long time
