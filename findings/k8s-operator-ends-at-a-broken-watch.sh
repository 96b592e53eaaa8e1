#!/usr/bin/env bash
# Package: @dot-i/k8s-operator 1.3.9
# Guess: a watch that is answered with 500, or whose connection breaks, is opened again after a delay.
# Seen: the operator ends the process with exit code 1. Only a watch that the server ends in good order is opened again, from
# the beginning: each object comes as ADDED once more.
. "$(dirname "$0")/lib.sh"
packages @dot-i/k8s-operator@1.3.9
cat >operator.mjs <<'JS'
import k8s from "@dot-i/k8s-operator";

const quiet = () => {};
class Reader extends (k8s.default ?? k8s) {
  async init() {
    await this.watchResource("", "v1", "pods", async ({ type, object }) => {
      console.log(`${type} ${object.metadata.name}`);
    });
  }
}
await new Reader({ debug: quiet, info: quiet, warn: quiet, error: quiet }).start();
setTimeout(() => process.exit(), 5_000);
JS
observe <<'JS'
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { serve } from "./kit.mjs";

const json = { "content-type": "application/json" };
const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "default", uid: "a", resourceVersion: "5" } };
const ends = {
  "end of the watch": (response) => response.end(),
  "broken connection": (response) => response.destroy(),
  "status 500": undefined,
};
for (const [name, end] of Object.entries(ends)) {
  const server = await serve((_request, response, number) => {
    if (end === undefined) return response.writeHead(500, json).end("{}");
    response.writeHead(200, json).write(`${JSON.stringify({ type: "ADDED", object })}\n`);
    if (number === 1) setTimeout(() => end(response), 500);
  });
  const one = (key, value) => ({ [`${key}s`]: [{ name: "x", [key]: value }] });
  writeFileSync("config.json", JSON.stringify({
    apiVersion: "v1", kind: "Config", "current-context": "x",
    ...one("cluster", { server: server.url, "insecure-skip-tls-verify": true }), ...one("user", {}),
    ...one("context", { cluster: "x", user: "x" }),
  }));
  const env = { ...process.env, KUBECONFIG: `${process.cwd()}/config.json` };
  const child = spawn(process.execPath, ["--no-warnings", "operator.mjs"], { env, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.on("data", (part) => (text += part));
  const code = await new Promise((resolve) => child.on("close", resolve));
  console.log(`${name}: exit code ${code}; watches: ${server.times.length}; ${text.trim().split("\n").join(", ") || "no event"}`);
  server.close();
}
JS
expect <<'TEXT'
end of the watch: exit code 0; watches: 2; ADDED a, ADDED a
broken connection: exit code 1; watches: 1; ADDED a
status 500: exit code 1; watches: 1; no event
TEXT
