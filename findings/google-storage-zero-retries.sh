#!/usr/bin/env bash
# Package: @google-cloud/storage 8.4.0, google-auth-library 11.3.4, Node 24.21.0
# Guess: `maxRetries: 0` turns the retries off; Retry-After is ignored.
# Seen: 0 is taken for absent, and four requests are made. `autoRetry: false` turns the retries off.
. "$(dirname "$0")/lib.sh"
packages @google-cloud/storage@8.4.0 google-auth-library@11.3.4
node_of 24.21.0
observe <<'JS'
import { Storage } from "@google-cloud/storage";
import { OAuth2Client } from "google-auth-library";
import { busy, serve } from "./kit.mjs";

const authClient = new OAuth2Client();
authClient.setCredentials({ access_token: "token", expiry_date: Date.now() + 3_600_000 });
for (const retryOptions of [{ maxRetries: 1 }, { maxRetries: 0 }, { autoRetry: false }]) {
  const server = await serve(busy(9, 503, { "retry-after": "20" }));
  const storage = new Storage({ apiEndpoint: server.url, projectId: "p", authClient, retryOptions });
  await storage.bucket("b").file("f").getMetadata().catch((reason) => reason);
  const early = server.times.length < 2 || server.delay() < 10;
  console.log(`${JSON.stringify(retryOptions)}: ${server.times.length} requests${early ? "" : ", after 20 s"}`);
  server.close();
}
JS
expect <<'TEXT'
{"maxRetries":1}: 2 requests
{"maxRetries":0}: 4 requests
{"autoRetry":false}: 1 requests
TEXT
