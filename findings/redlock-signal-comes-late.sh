#!/usr/bin/env bash
# Package: redlock 5.0.0-beta.2, on one Redis
# Guess: the signal of `using` aborts before the lock that could not be extended expires, or at the latest then.
# Seen: the failed extension is tried ten times, 0.2 s apart, before the signal aborts: about 1.8 s after the lock has
# expired. Another holder has worked for that long.
. "$(dirname "$0")/lib.sh"
needs redis-server
server redis
packages redlock@5.0.0-beta.2 ioredis@5.4.1
observe <<'JS'
import Redis from "ioredis";
import Redlock from "redlock";
import { seconds, sleep } from "./kit.mjs";

const redis = new Redis(process.env.URL);
const other = new Redis(process.env.URL);
const begin = performance.now();
await new Redlock([redis])
  .using(["job"], 1_000, async (signal) => {
    await sleep(200);
    await other.set("job", "another holder"); // as after a failover
    while (!signal.aborted) await sleep(20);
    const late = seconds(performance.now() - begin - 1_000, 0.1);
    console.log(`signal aborted ${late > 1 ? "more than 1 s after the end of the lock" : "in time"}`);
  })
  .catch((error) => console.log(`using rejected: ${error.name}`));
process.exit();
JS
expect <<'TEXT'
signal aborted more than 1 s after the end of the lock
using rejected: ExecutionError
TEXT
