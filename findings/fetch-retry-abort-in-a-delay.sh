#!/usr/bin/env bash
# Package: fetch-retry 6.0.0
# Guess: an abort during a delay ends the call, or at least ends retrying.
# Seen: the delay goes on, and each retry that is left calls `fetch` and waits for its delay. With the defaults an abort
# is noticed up to 3 s later.
. "$(dirname "$0")/lib.sh"
packages fetch-retry@6.0.0
observe <<'JS'
import fetchRetry from "fetch-retry";
import { busy, seconds, serve } from "./kit.mjs";

const server = await serve(busy(9, 503));
let calls = 0;
const retrying = fetchRetry((...args) => {
  calls++;
  return fetch(...args);
});
const stop = new AbortController();
setTimeout(() => stop.abort(), 200);
const begin = performance.now();
const outcome = await retrying(server.url, { signal: stop.signal, retryOn: [503] }).catch((error) => error.name);
console.log(`aborted after 0.2 s; ${outcome} after ${seconds(performance.now() - begin, 1)} s and ${calls} calls of fetch`);
server.close();
JS
expect <<'TEXT'
aborted after 0.2 s; AbortError after 3 s and 4 calls of fetch
TEXT
