#!/usr/bin/env bash
# Package: undici 8.13.1
# Guess: `headersTimeout: 100` ends a request without a response after about 0.1 s.
# Seen: after about 1 s: the timers behind it tick once in half a second or second. `AbortSignal.timeout(100)` is exact.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages undici@8.13.1
observe <<'JS'
import { Agent, request } from "undici";
import { seconds, serve } from "./kit.mjs";

const server = await serve(() => {}); // never answers
for (const options of [{ headersTimeout: 100 }, { headersTimeout: 500 }, { signal: AbortSignal.timeout(100) }]) {
  const begin = performance.now();
  const error = await request(server.url, { ...options, dispatcher: new Agent() }).catch((reason) => reason);
  const time = performance.now() - begin;
  const name = options.signal ? "signal of 0.1 s" : `headersTimeout of ${seconds(options.headersTimeout, 0.1)} s`;
  console.log(`${name}: ${error.name} after ${time > 800 ? "0.8 s or more" : "less than 0.8 s"}`);
}
process.exit();
JS
expect <<'TEXT'
headersTimeout of 0.1 s: HeadersTimeoutError after 0.8 s or more
headersTimeout of 0.5 s: HeadersTimeoutError after 0.8 s or more
signal of 0.1 s: TimeoutError after less than 0.8 s
TEXT
