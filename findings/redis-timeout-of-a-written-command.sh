#!/usr/bin/env bash
# Package: redis 6.3.1
# Guess: `commandOptions: { timeout: 300 }`, or an abort signal, limits how long a command may take.
# Seen: both limit how long a command waits to be written. One that was written is not touched.
. "$(dirname "$0")/lib.sh"
needs redis-server
server redis
packages redis@6.3.1
observe <<'JS'
import { createClient } from "redis";
import { seconds } from "./kit.mjs";

const client = await createClient({ url: process.env.URL }).connect();
const ways = {
  timeout: () => client.withCommandOptions({ timeout: 300 }),
  signal: () => client.withAbortSignal(AbortSignal.timeout(300)),
};
for (const [name, way] of Object.entries(ways)) {
  const begin = performance.now();
  const outcome = await way().blPop("no such list", 2).then((value) => `resolved with ${value}`, (error) => error.name);
  console.log(`${name} of 0.3 s: ${outcome} after ${seconds(performance.now() - begin, 1)} s`);
}
process.exit();
JS
expect <<'TEXT'
timeout of 0.3 s: resolved with null after 2 s
signal of 0.3 s: resolved with null after 2 s
TEXT
