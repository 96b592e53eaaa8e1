#!/usr/bin/env bash
# Package: @kubernetes/client-node 2.0.1
# Guess: an informer goes on by itself after a broken connection, as after the end of a watch.
# Seen: it goes on after the end of a watch, and stops for good after a connection that breaks, a 429 with Retry-After or
# a 500, with one `error` event. The cache stays as it was, and nothing else tells.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages @kubernetes/client-node@2.0.1
observe --no-warnings <<'JS'
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";
import { serve, sleep } from "./kit.mjs";

const json = { "content-type": "application/json" };
const list = { apiVersion: "v1", kind: "PodList", metadata: { resourceVersion: "5" }, items: [] };
const ends = {
  "end of the watch": (response) => {
    response.writeHead(200, json).flushHeaders();
    setTimeout(() => response.end(), 200);
  },
  "broken connection": (response) => {
    response.writeHead(200, json).flushHeaders();
    setTimeout(() => response.destroy(), 200);
  },
  "status 429": (response) => response.writeHead(429, { ...json, "retry-after": "1" }).end("{}"),
  "status 500": (response) => response.writeHead(500, json).end("{}"),
};
const path = "/api/v1/namespaces/default/pods";
for (const [name, end] of Object.entries(ends)) {
  let watches = 0;
  const server = await serve((request, response) => {
    if (!request.url.includes("watch=")) return response.writeHead(200, json).end(JSON.stringify(list));
    if (++watches === 1) return end(response);
    response.writeHead(200, json).flushHeaders(); // stays open
  });
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: "c", server: server.url, skipTLSVerify: true }, { name: "u" });
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, path, () => api.listNamespacedPod({ namespace: "default" }));
  let errors = 0;
  informer.on("error", () => errors++);
  await informer.start();
  await sleep(4_000);
  console.log(`${name}: ${errors} errors, watches after 4 s: ${watches}`);
  await informer.stop();
  server.close();
}
process.exit();
JS
expect <<'TEXT'
end of the watch: 0 errors, watches after 4 s: 2
broken connection: 1 errors, watches after 4 s: 1
status 429: 1 errors, watches after 4 s: 1
status 500: 1 errors, watches after 4 s: 1
TEXT
