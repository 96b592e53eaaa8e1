import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../../services/free-port.mjs";
import { stopwatch } from "../measure.mjs";

const pem = (name) =>
  fileURLToPath(
    new URL(`../../packages/kubernetes/test/certificates/${name}.pem`, import.meta.url),
  );
const clientScript = fileURLToPath(new URL("../webhook-client.mjs", import.meta.url));

/** Node's own server, which reads a review and answers it. */
async function bare() {
  const options = { cert: readFileSync(pem("server")), key: readFileSync(pem("server.key")) };
  const server = createServer(options, (request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(chunks).toString());
      const text = JSON.stringify({
        apiVersion,
        kind,
        response: { uid: asked.uid, allowed: true },
      });
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      });
      response.end(text);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address().port;
}

/** An operator with a webhook of each kind. */
async function operator() {
  const { customResource, mutating, runOperator, validating } = await import(
    "@holdfast/kubernetes"
  );
  const { silentLogger } = await import("@holdfast/controller");
  const names = { apiVersion: "bench.example.org/v1", kind: "Task", plural: "tasks" };
  const Task = customResource(names);
  const check = validating(Task, {
    handle: ({ object }) => (object.spec.schedule === "" ? [{ message: "is empty" }] : []),
  });
  const fill = mutating(Task, {
    handle({ object }) {
      object.spec.suspend ??= false;
    },
  });
  const convert = {
    crd: {
      metadata: { name: "tasks.bench.example.org" },
      spec: { group: "bench.example.org", names: { kind: "Task" } },
    },
    convert: ({ spec: { schedule, ...rest }, ...object }, version) => ({
      ...object,
      apiVersion: `bench.example.org/${version}`,
      spec: { ...rest, every: schedule.split(" ") },
    }),
  };
  const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  copyFileSync(pem("server"), join(directory, "tls.crt"));
  copyFileSync(pem("server.key"), join(directory, "tls.key"));
  const port = await freePort();
  const started = Promise.withResolvers?.() ?? deferred();
  void runOperator({
    name: "bench",
    transport: {
      description: "none",
      namespace: "default",
      send: () => new Promise(() => {}),
    },
    leaderElection: false,
    health: false,
    logger: silentLogger,
    setup: () => () => {
      started.resolve();
      return [{ name: "idle", run: () => new Promise(() => {}) }];
    },
    webhooks: {
      ...{ service: "bench", hooks: [check, fill], convert: [convert], port },
      certificate: { directory },
    },
  });
  await started.promise;
  return port;
}

function deferred() {
  const parts = {};
  parts.promise = new Promise((resolve) => Object.assign(parts, { resolve }));
  return parts;
}

/** A sample: calls of another process. The CPU time is that of the server alone. */
function calling(open, path, kind = "AdmissionReview") {
  return async (count) => {
    const port = await open();
    const client = spawn(process.execPath, [clientScript, port, path, pem("ca"), kind], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
    await lines.next();
    return async () => {
      const lap = stopwatch();
      client.stdin.write(`${count}\n`);
      const { value } = await lines.next();
      if (value !== "done") throw new Error("the client has failed");
      return { "cpu ns/call": lap() / count };
    };
  };
}

export const webhooks = {
  id: "o",
  title: "webhooks: a review of an API server, answered",
  cases: [
    {
      id: "calls",
      title: "by HTTPS, on connections that stay, 4 at once",
      sizes: [2_000],
      quickSizes: [500],
      samples: 8,
      milliseconds: 3_000,
      unit: "calls",
      contenders: {
        "bare node:https": calling(bare, "/"),
        validating: calling(operator, "/validate.tasks.bench.example.org"),
        mutating: calling(operator, "/mutate.tasks.bench.example.org"),
        conversion: calling(operator, "/convert", "ConversionReview"),
        "bare node:https, a conversion": calling(bare, "/", "ConversionReview"),
      },
    },
  ],
};
