#!/usr/bin/env bash
# Package: @aws-sdk/client-s3 3.1175.0, Node 24.21.0
# Guess: the client either ignores Retry-After or waits as long as it says, and an abort is noticed when the delay ends.
# Seen: it waits as long up to 5 s, and 5 s for anything longer, so a server that asks for a minute gets all three calls
# within 11 s. The header is on `error.$response`; an abort ends the delay at once.
. "$(dirname "$0")/lib.sh"
packages @aws-sdk/client-s3@3.1175.0
node_of 24.21.0
observe <<'JS'
import { ListBucketsCommand, S3Client } from "@aws-sdk/client-s3";
import { busy, seconds, serve } from "./kit.mjs";

const clientOf = (endpoint, options) =>
  new S3Client({ endpoint, region: "us-east-1", credentials: { accessKeyId: "a", secretAccessKey: "b" }, ...options });

for (const after of ["3", "60"]) {
  const server = await serve(busy(9, 503, { "retry-after": after }));
  const error = await clientOf(server.url).send(new ListBucketsCommand()).catch((reason) => reason);
  const delays = server.times.slice(1).map((time, at) => seconds(time - server.times[at], 1));
  console.log(`Retry-After: ${after}: delays of ${delays.join(" and ")} s; header of the error: ${error.$response.headers["retry-after"]}`);
  server.close();
}

const server = await serve(busy(9, 503, { "retry-after": "3" }));
const stop = new AbortController();
setTimeout(() => stop.abort(), 500);
const start = performance.now();
await clientOf(server.url).send(new ListBucketsCommand(), { abortSignal: stop.signal }).catch((reason) => reason);
console.log(`aborted after 0.5 s: rejects after ${seconds(performance.now() - start)} s`);
server.close();

const down = await serve(busy(99, 503));
const client = clientOf(down.url);
for (let i = 0; i < 25; i++) await client.send(new ListBucketsCommand()).catch((reason) => reason);
console.log(`25 calls of one client, one after the other: ${down.times.length} requests`);
down.close();
JS
expect <<'TEXT'
Retry-After: 3: delays of 3 and 3 s; header of the error: 3
Retry-After: 60: delays of 5 and 5 s; header of the error: 60
aborted after 0.5 s: rejects after 0.5 s
25 calls of one client, one after the other: 60 requests
TEXT
