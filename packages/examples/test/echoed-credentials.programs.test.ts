import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { realClock } from "@holdfast/clock";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  atUrl,
  builtIn,
  Cluster,
  KubeClient,
  type KubeObject,
  type KubeTransport,
  runOperator,
} from "@holdfast/kubernetes";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { MemoryStore } from "@holdfast/outbox/testing";
import { WebhookPublisher } from "@holdfast/outbox/webhook";
import { expectOk, poll } from "@holdfast/wait";
import fc from "fast-check";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../../../test/error-of.ts";

// A server that answers with what it was sent: no error, and no log, repeats it.

type Form = (text: string) => string;

const FORMS: readonly Form[] = [
  (text) => text,
  (text) => JSON.stringify(text),
  encodeURIComponent,
  (text) => Buffer.from(text).toString("base64"),
  (text) => Buffer.from(text).toString("base64url"),
  (text) => Buffer.from(text).toString("base64").slice(0, -6),
];

/** How a server puts a text into its answer. */
const ANSWERS: Readonly<Record<string, (text: string, response: ServerResponse) => void>> = {
  "plain text": (text, response) => void response.writeHead(403).end(text),
  "a very long text": (text, response) =>
    void response.writeHead(403).end(`${"x".repeat(985)} ${text} ${"x".repeat(70_000)}`),
  "the reason phrase and headers": (text, response) => {
    const phrase = text.replace(/[^\x20-\x7e]/g, "");
    response.writeHead(500, phrase, { "x-echo": phrase, warning: `299 - "${phrase}"` }).end();
  },
  "a Status": (text, response) =>
    void response
      .writeHead(422, { "content-type": "application/json" })
      .end(JSON.stringify(statusOf(text))),
  "an object of another kind": (text, response) =>
    void response
      .writeHead(200, {
        "content-type": text.replace(/[^\w.-]/g, ""),
        warning: `299 - "${text.replace(/[^\w.-]/g, "")}"`,
      })
      .end(JSON.stringify({ kind: text, apiVersion: text, metadata: {} })),
  "an ERROR of a watch": (text, response) => void response.writeHead(200).end(watchError(text)),
  "what is no HTTP": (text, { socket }) => void socket?.end(`HTTP/1.1 200 OK\r\n${text}\r\n\r\n`),
};

const statusOf = (text: string) => ({
  kind: "Status",
  status: "Failure",
  reason: text,
  message: `refused: ${text}`,
  details: { name: text, causes: [{ field: text, message: text }], [text]: 1 },
});
const watchError = (text: string): string =>
  `${JSON.stringify({ type: "ERROR", object: { ...statusOf(text), code: 500 } })}\n`;

let url: string;
let form: Form;
let answer: (text: string, response: ServerResponse) => void;
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  request.resume();
  const { authorization = "", cookie = "" } = request.headers;
  const sent = [authorization, cookie, request.headers["x-api-key"] ?? "", request.url ?? ""];
  const isList = request.url?.includes("/pods?") && !request.url.includes("watch=true");
  if (isList && answer === ANSWERS["an ERROR of a watch"]) {
    const list = {
      kind: "PodList",
      apiVersion: "v1",
      metadata: { resourceVersion: "1" },
      items: [],
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(list));
  } else answer(sent.map((one) => form(String(one))).join(" "), response);
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
});

/** Logs, and the first error that a log has. */
function logs() {
  const lines: unknown[] = [];
  let hear: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const log = (...line: unknown[]): void => {
    lines.push(line);
    hear();
  };
  return { lines, heard, logger: { debug: log, info: log, warn: log, error: log } };
}

/** What each door gives to a reader: the error of a request that carries a secret, and what it has logged. */
const DOORS: Readonly<Record<string, (secret: string) => Promise<unknown>>> = {
  KubeClient: async (secret) => {
    const { lines, logger } = logs();
    const transport = atUrl(url, { token: () => secret, logger });
    const client = new KubeClient({ transport, logger });
    const error = await errorOf(client.get(builtIn("v1", "Pod"), "default/ann"));
    return [error, lines];
  },
  "expectOk, its request unknown": async (secret) => {
    if (answer === ANSWERS["what is no HTTP"]) return undefined; // fetch rejects: there is no response
    const response = await fetch(`${url}/hooks/${secret}?key=${secret}`, {
      headers: headersOf(secret),
    });
    return await errorOf(expectOk(response));
  },
  "expectOk with its request": async (secret) => {
    const request = { headers: headersOf(secret) };
    if (answer === ANSWERS["what is no HTTP"]) return undefined; // fetch rejects: there is no response
    const response = await fetch(`${url}/hooks/${secret}?key=${secret}`, request);
    return await errorOf(expectOk(response, { request }));
  },
  WebhookPublisher: async (secret) => {
    const target = `${url}/hooks/${secret}?key=${secret}`;
    await using publisher = new WebhookPublisher({ url: target, headers: headersOf(secret) });
    const store = new MemoryStore();
    const fields = { topic: "orders", key: "order/1", payload: {} };
    const message = await store.transaction((tx) => store.save(tx, fields, 0));
    return await errorOf(publisher.publish(message, new AbortController().signal));
  },
};

const headersOf = (secret: string): Record<string, string> => ({
  Authorization: `Bearer ${secret}`,
  Cookie: `a=1; session=${secret}`,
  "X-Api-Key": secret,
});

const SECRETS = fc
  .string({
    minLength: 12,
    maxLength: 30,
    unit: fc.constantFrom(..."abcxyzABCXYZ0123456789-_~.!*+/"),
  })
  .filter((text) => !text.includes(".."));

describe.each(Object.keys(DOORS))("%s", (door) => {
  it.each(Object.keys(ANSWERS))("does not repeat what its server repeats in %s", async (name) => {
    answer = ANSWERS[name] as never;
    await fc.assert(
      fc.asyncProperty(SECRETS, fc.constantFrom(...FORMS), async (secret, drawn) => {
        form = drawn;
        const said = inspect(await DOORS[door]?.(secret.replaceAll("/", "~")), {
          depth: 12,
          showHidden: true,
          maxStringLength: null,
        });
        const plain = secret.replaceAll("/", "~");
        for (const shape of [plain, encodeURIComponent(plain), ...inBase64(plain)])
          expect(said).not.toContain(shape);
      }),
      { numRuns: 20 },
    );
  });
});

/** What base64 makes of a text, wherever it begins. */
function inBase64(text: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const core = Buffer.from(`${" ".repeat(before)}${text}`)
      .toString("base64")
      .slice(before + 1, -4);
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

it("an informer does not repeat what its server repeats in an ERROR of a watch, or of a list", async () => {
  const secret = "xyzzy-0123456789-plugh";
  for (const name of ["an ERROR of a watch", "a Status", "plain text"]) {
    answer = ANSWERS[name] as never;
    for (const drawn of FORMS) {
      form = drawn;
      const { lines, heard, logger } = logs();
      const cluster = new Cluster({
        transport: atUrl(url, { token: () => secret, logger }),
        logger,
      });
      cluster.watch(builtIn("v1", "Pod"));
      const stop = new AbortController();
      const end = cluster.run(stop.signal).catch(() => undefined);
      await heard;
      stop.abort();
      await end;
      const said = inspect(lines, { depth: 12, showHidden: true, maxStringLength: null });
      for (const shape of [secret, ...inBase64(secret)]) expect(said).not.toContain(shape);
    }
  }
});

interface EventObject extends KubeObject {
  readonly note?: string;
  readonly reason?: string;
}

it("an operator repeats what its servers repeat in no Event, log or metric", async () => {
  const secret = "xyzzy-0123456789-plugh";
  const ConfigMap = builtIn("v1", "ConfigMap");
  const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");
  const api = new FakeApi({ clock: realClock, resources: [ConfigMap, Event] });
  const { lines, logger } = logs();
  const echo = atUrl(url, { token: () => secret, logger });
  // The operator's own server echoes the requests for Pods only, so that caches and Events work.
  const transport: KubeTransport = {
    description: "both",
    send: (request, signal) =>
      (request.path.includes("/pods/") ? echo : api.transport).send(request, signal),
  };
  const doors: typeof DOORS = {
    ...DOORS,
    "the operator's client": (one) => errorOf(own.get(builtIn("v1", "Pod"), `default/${one}`)),
  };
  let own: KubeClient = api.client;
  const failing = new Map<string, () => Promise<unknown>>();
  for (const [door, fail] of Object.entries(doors))
    for (const respond of Object.values(ANSWERS))
      for (const drawn of FORMS)
        failing.set(`case-${failing.size}`, async () => {
          answer = respond;
          form = drawn;
          const error = await fail(door === "the operator's client" ? "ann" : secret);
          return [error].flat()[0];
        });
  for (const name of failing.keys())
    await api.client.create(ConfigMap, { metadata: { namespace: "default", name } });

  let failures = 0;
  const done = new Set<string>();
  const register = new Registry();
  const stop = new AbortController();
  const running = runOperator(
    {
      name: "echoed",
      transport,
      leaderElection: false,
      health: false,
      logger,
      metrics: prometheusMetrics({ register }),
      setup({ client, cluster, controller }) {
        own = client;
        const maps = cluster.watch(ConfigMap);
        return () => [
          controller({
            name: "echoed",
            workers: 1, // the answer is that of one case at a time
            sources: [maps.source()],
            failureEvents: maps,
            async reconcile({ key }) {
              const name = key.replace("default/", "");
              if (done.has(name)) return;
              done.add(name);
              const error = await failing.get(name)?.();
              if (error === undefined) return;
              failures++;
              throw error;
            },
          }),
        ];
      },
    },
    stop.signal,
  );
  const notes = async (): Promise<readonly string[]> => {
    const all: string[] = [];
    for await (const { reason, note = "" } of api.client.list(Event))
      if (reason === "ReconcileFailed") all.push(note);
    return all;
  };
  const isComplete = async () => done.size === failing.size && (await notes()).length === failures;
  await poll(isComplete, { backoff: { duration: 50 }, timeout: Number.POSITIVE_INFINITY });
  const metrics = await register.metrics();
  stop.abort();
  await running;
  expect(failures).toBeGreaterThan(failing.size / 2);
  expect(metrics).toContain("controller_runtime_reconcile_errors_total");
  const seen = { notes: await notes(), lines, metrics };
  const said = inspect(seen, {
    depth: 12,
    showHidden: true,
    maxStringLength: null,
    maxArrayLength: null,
  });
  for (const shape of [secret, encodeURIComponent(secret), ...inBase64(secret)])
    expect(said).not.toContain(shape);
});
