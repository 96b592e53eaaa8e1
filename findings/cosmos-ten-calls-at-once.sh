#!/usr/bin/env bash
# Package: @azure/cosmos 4.9.3
# Guess: a 429 is retried nine times after `x-ms-retry-after-ms`; with Retry-After alone it waits a default of its own.
# Seen: without its own header the nine retries follow at once, in spite of Retry-After. A 503 is final.
. "$(dirname "$0")/lib.sh"
packages @azure/cosmos@4.9.3
observe <<'JS'
import { CosmosClient } from "@azure/cosmos";
import { busy, seconds, serve } from "./kit.mjs";

const key = Buffer.from("key").toString("base64");
for (const [status, headers] of [[429, { "x-ms-retry-after-ms": "200" }], [429, { "retry-after": "1" }], [503, { "retry-after": "1" }]]) {
  const times = [];
  const answer = busy(99, status, headers);
  const server = await serve((request, response, number) => {
    if (request.url !== "/") {
      times.push(performance.now());
      return answer(request, response, number);
    }
    const place = [{ name: "here", databaseAccountEndpoint: server.url }];
    const account = { id: "a", writableLocations: place, readableLocations: place, userConsistencyPolicy: { defaultConsistencyLevel: "Session" } };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(account));
  });
  const connectionPolicy = { enableEndpointDiscovery: false, enableBackgroundEndpointRefreshing: false };
  const client = new CosmosClient({ endpoint: server.url, key, connectionPolicy });
  await client.database("d").read().catch((reason) => reason);
  const whole = seconds(times.at(-1) - times[0], 1);
  console.log(`${status} ${JSON.stringify(headers)}: ${times.length} requests in ${whole} s`);
  client.dispose();
  server.close();
}
JS
expect <<'TEXT'
429 {"x-ms-retry-after-ms":"200"}: 10 requests in 2 s
429 {"retry-after":"1"}: 10 requests in 0 s
503 {"retry-after":"1"}: 1 requests in 0 s
TEXT
