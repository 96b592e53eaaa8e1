#!/usr/bin/env bash
# Package: @azure/core-rest-pipeline 1.24.0
# Guess: a POST is retried after 429, with its header or else with backoff, and not after 500.
# Seen: the reverse: a 429 without a header is final, and a 500 repeats the POST three times.
. "$(dirname "$0")/lib.sh"
packages @azure/core-rest-pipeline@1.24.0
observe <<'JS'
import { createDefaultHttpClient, createPipelineFromOptions, createPipelineRequest } from "@azure/core-rest-pipeline";
import { busy, serve } from "./kit.mjs";

const options = { retryOptions: { retryDelayInMs: 20 } };
for (const [status, headers] of [[429, {}], [429, { "retry-after": "1" }], [500, {}], [501, {}]]) {
  const server = await serve(busy(9, status, headers));
  const request = createPipelineRequest({ url: server.url, method: "POST", allowInsecureConnection: true });
  const answer = await createPipelineFromOptions(options).sendRequest(createDefaultHttpClient(), request);
  console.log(`POST, ${status} ${JSON.stringify(headers)}: ${server.times.length} requests, resolves with ${answer.status}`);
  server.close();
}
JS
expect <<'TEXT'
POST, 429 {}: 1 requests, resolves with 429
POST, 429 {"retry-after":"1"}: 4 requests, resolves with 429
POST, 500 {}: 4 requests, resolves with 500
POST, 501 {}: 1 requests, resolves with 501
TEXT
