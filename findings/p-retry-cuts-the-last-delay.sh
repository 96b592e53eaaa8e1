#!/usr/bin/env bash
# Package: p-retry 9.0.0
# Guess: `maxRetryTime` ends retrying before a delay that would pass it.
# Seen: the delay is cut, so that the last call begins in the very moment in which the time is over, and is not limited.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages p-retry@9.0.0
observe <<'JS'
import pRetry from "p-retry";
import { seconds, sleep } from "./kit.mjs";

const begin = performance.now();
const at = () => seconds(performance.now() - begin, 0.1).toFixed(1);
const calls = [];
await pRetry(
  async () => {
    calls.push(at());
    if (calls.length === 4) await sleep(600);
    throw new Error("busy");
  },
  { minTimeout: 200, maxRetryTime: 1_000, retries: 10 },
).catch(() => console.log(`maxRetryTime 1.0 s; calls at ${calls.join(" ")} s; rejected at ${at()} s`));
JS
expect <<'TEXT'
maxRetryTime 1.0 s; calls at 0.0 0.2 0.6 1.0 s; rejected at 1.6 s
TEXT
