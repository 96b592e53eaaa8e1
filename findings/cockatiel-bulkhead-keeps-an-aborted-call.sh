#!/usr/bin/env bash
# Package: cockatiel 4.0.0
# Guess: a call that waits for a bulkhead and whose signal aborts rejects at once, and gives its place in the queue to another.
# Seen: it rejects only when its turn has come, with a TaskCancelledError, and is not called then. Until that time it
# counts: a bulkhead whose queue is full of callers that have gone refuses all others.
. "$(dirname "$0")/lib.sh"
packages cockatiel@4.0.0
observe <<'JS'
import { bulkhead, isBulkheadRejectedError, isTaskCancelledError } from "cockatiel";
import { sleep } from "./kit.mjs";

const limit = bulkhead(1, 1); // one in flight, one waits
let end;
const first = limit.execute(() => new Promise((resolve) => (end = resolve)));
const stop = new AbortController();
let state = "waits";
let calls = 0;
const second = limit
  .execute(() => calls++, stop.signal)
  .catch((error) => (state = isTaskCancelledError(error) ? "is cancelled" : error.message));
stop.abort();
await sleep(500);
console.log(`0.5 s after its abort, the second ${state}`);
const third = await limit.execute(() => 1).catch((error) => isBulkheadRejectedError(error));
console.log(`the third is rejected as one too many: ${third}`);
end();
await Promise.all([first, second]);
console.log(`after the end of the first, the second ${state}; calls: ${calls}`);
JS
expect <<'TEXT'
0.5 s after its abort, the second waits
the third is rejected as one too many: true
after the end of the first, the second is cancelled; calls: 0
TEXT
