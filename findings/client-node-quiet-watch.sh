#!/usr/bin/env bash
# Package: @kubernetes/client-node 2.0.1
# Guess: a watch waits 30 s for the headers of the response, and then as long as the server keeps it open.
# Seen: 30 s without a byte end it, also when it is open: `done` gets a TimeoutError. An API server sends a bookmark about
# once a minute, so a watch of a quiet resource lasts 30 s. An informer opens the next one.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages @kubernetes/client-node@2.0.1
observe --no-warnings <<'JS'
import { KubeConfig, Watch } from "@kubernetes/client-node";
import { seconds, serve, sleep } from "./kit.mjs";

const event = { type: "MODIFIED", object: { apiVersion: "v1", kind: "Pod", metadata: { name: "a", resourceVersion: "7" } } };
const server = await serve((request, response) => {
  if (request.url.includes("headers")) return; // sends none
  response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
  if (!request.url.includes("busy")) return;
  const timer = setInterval(() => response.write(`${JSON.stringify(event)}\n`), 10_000);
  response.on("close", () => clearInterval(timer));
});
const config = new KubeConfig();
config.loadFromClusterAndUser({ name: "c", server: server.url, skipTLSVerify: true }, { name: "u" });
const ends = { "no headers": "open", quiet: "open", busy: "open" };
for (const name of Object.keys(ends)) {
  const begin = performance.now();
  new Watch(config).watch(`/${name.replace(" ", "-")}`, {}, () => {}, (error) => {
    ends[name] = `${error?.name} after ${seconds(performance.now() - begin, 10)} s`;
  });
}
await sleep(45_000);
for (const [name, end] of Object.entries(ends)) console.log(`${name}: ${end}`);
process.exit();
JS
expect <<'TEXT'
no headers: TimeoutError after 30 s
quiet: TimeoutError after 30 s
busy: open
TEXT
