// Calls a webhook as an API server does: HTTPS on connections that stay, some at once.
// `node webhook-client.mjs PORT PATH CA KIND`; each number on standard input is a batch of so many calls.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { createInterface } from "node:readline";

const [port, path, ca, kind] = process.argv.slice(2);
const AT_ONCE = 4;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE, ca: readFileSync(ca) });

const object = (size) => ({
  apiVersion: "bench.example.org/v1",
  kind: "Task",
  metadata: {
    name: "ann",
    namespace: "default",
    uid: "5f1b0c9e-0000-4000-8000-000000000000",
    labels: { app: "bench" },
    managedFields: Array.from({ length: 3 }, (_, n) => ({
      ...{ manager: `manager-${n}`, operation: "Apply", apiVersion: "bench.example.org/v1" },
      fieldsV1: { "f:spec": { "f:schedule": {}, "f:template": { "f:env": {} } } },
    })),
  },
  spec: {
    schedule: "5 * * * *",
    size,
    template: { env: Array.from({ length: 20 }, (_, n) => ({ name: `NAME_${n}`, value: `${n}` })) },
  },
});

const body = JSON.stringify(
  kind === "ConversionReview"
    ? {
        ...{ apiVersion: "apiextensions.k8s.io/v1", kind },
        request: { uid: "1", desiredAPIVersion: "bench.example.org/v2", objects: [object(1)] },
      }
    : {
        ...{ apiVersion: "admission.k8s.io/v1", kind },
        request: {
          ...{ uid: "1", operation: "UPDATE", namespace: "default", name: "ann", dryRun: false },
          ...{ userInfo: { username: "ann" }, object: object(1), oldObject: object(2) },
        },
      },
);

function call() {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: `${path}?timeout=5s`, method: "POST", agent };
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const outgoing = request({ ...options, headers }, (incoming) => {
      if (incoming.statusCode !== 200) reject(new Error(`status ${incoming.statusCode}`));
      incoming.resume().once("end", resolve);
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  let left = Number(line);
  const caller = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  console.log("done");
}
