#!/usr/bin/env bash
# Package: undici 8.13.1
# Guess: after the last retry `fetch` resolves with the 503, as it does without RetryAgent.
# Seen: it rejects with "fetch failed". Code that reads `response.status` never sees the 503.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages undici@8.13.1
observe <<'JS'
import { Agent, fetch, RetryAgent } from "undici";
import { busy, serve } from "./kit.mjs";

for (const dispatcher of [new Agent(), new RetryAgent(new Agent(), { maxRetries: 2, minTimeout: 50 })]) {
  const server = await serve(busy(9, 503));
  const outcome = await fetch(server.url, { dispatcher }).then(
    (response) => `resolves with ${response.status}`,
    (error) => `rejects with ${error.name}: ${error.message}, cause ${error.cause.code} ${error.cause.statusCode}`,
  );
  console.log(`${dispatcher.constructor.name}: ${outcome} after ${server.times.length} requests`);
  server.close();
  await dispatcher.destroy();
}
JS
expect <<'TEXT'
Agent: resolves with 503 after 1 requests
RetryAgent: rejects with TypeError: fetch failed, cause UND_ERR_REQ_RETRY 503 after 3 requests
TEXT
