#!/usr/bin/env bash
# Package: graphile-worker 0.18.0, PostgreSQL 15
# Guess: a job added under the `jobKey` of a running one waits for it.
# Seen: a second job that starts beside it: the key is one job in the queue, not one at a time. `queueName` is.
. "$(dirname "$0")/lib.sh"
needs psql
server postgres
node_of 26.10.0
packages graphile-worker@0.18.0
observe <<'JS'
import { Logger, run } from "graphile-worker";
import { sleep } from "./kit.mjs";

const events = [];
const runner = await run({
  connectionString: process.env.URL,
  concurrency: 2,
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  taskList: {
    async work({ name }) {
      events.push(`${name} begins`);
      await sleep(1_500);
      events.push(`${name} ends`);
    },
  },
});
const two = async (options) => {
  await runner.addJob("work", { name: "first" }, options);
  while (events.length === 0) await sleep(20);
  await runner.addJob("work", { name: "second" }, options);
  while (events.length < 4) await sleep(20);
  return events.splice(0).join(", ");
};
console.log(`jobKey: ${await two({ jobKey: "a" })}`);
console.log(`jobKey and queueName: ${await two({ jobKey: "a", queueName: "a" })}`);
await runner.stop();
process.exit();
JS
expect <<'TEXT'
jobKey: first begins, second begins, first ends, second ends
jobKey and queueName: first begins, first ends, second begins, second ends
TEXT
