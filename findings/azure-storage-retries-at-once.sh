#!/usr/bin/env bash
# Package: @azure/storage-blob 12.32.0
# Guess: after a 503 it waits its own 4 s, and ignores Retry-After; its neighbor for tables honors it.
# Seen: the first retry comes at once, in spite of Retry-After; 4 s and 12 s follow. A 429 is final, also with the header,
# unlike in the other clients of this family.
. "$(dirname "$0")/lib.sh"
packages @azure/storage-blob@12.32.0
observe <<'JS'
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { busy, seconds, serve } from "./kit.mjs";

const credential = new StorageSharedKeyCredential("account", Buffer.from("key").toString("base64"));
for (const [status, headers] of [[503, {}], [503, { "retry-after": "20" }], [429, { "retry-after": "1" }]]) {
  const server = await serve(busy(9, status, headers));
  const client = new BlobServiceClient(`${server.url}/account`, credential);
  await client.getProperties().catch((reason) => reason);
  const delays = server.times.slice(1).map((time, at) => seconds(time - server.times[at], 1));
  console.log(`${status} ${JSON.stringify(headers)}: ${server.times.length} requests, delays: ${delays.join(", ") || "none"}`);
  server.close();
}
JS
expect <<'TEXT'
503 {}: 4 requests, delays: 0, 4, 12
503 {"retry-after":"20"}: 4 requests, delays: 0, 4, 12
429 {"retry-after":"1"}: 1 requests, delays: none
TEXT
