#!/usr/bin/env bash
# Package: pg-boss 12.38.0, PostgreSQL 15
# Guess: `singletonKey` alone refuses a second job with the same key while the first one waits.
# Seen: in a queue of the standard policy both are added. It needs `singletonSeconds`, or a queue with the policy `short`.
. "$(dirname "$0")/lib.sh"
needs psql
server postgres
node_of 26.10.0
packages pg-boss@12.38.0
observe <<'JS'
import { PgBoss } from "pg-boss";

const boss = new PgBoss(process.env.URL);
boss.on("error", (error) => console.log(error.message));
await boss.start();
await boss.createQueue("standard");
await boss.createQueue("short", { policy: "short" });
const twice = async (queue, options) => {
  const ids = [await boss.send(queue, {}, options), await boss.send(queue, {}, options)];
  return ids.map((id) => (id === null ? "refused" : "added")).join(", ");
};
console.log(`singletonKey: ${await twice("standard", { singletonKey: "a" })}`);
console.log(`singletonKey and singletonSeconds: ${await twice("standard", { singletonKey: "b", singletonSeconds: 60 })}`);
console.log(`singletonKey, policy short: ${await twice("short", { singletonKey: "a" })}`);
await boss.stop({ graceful: false });
process.exit();
JS
expect <<'TEXT'
singletonKey: added, added
singletonKey and singletonSeconds: added, refused
singletonKey, policy short: added, refused
TEXT
