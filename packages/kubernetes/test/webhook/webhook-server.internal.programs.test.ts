import { once } from "node:events";
import { Agent, request } from "node:https";
import { connect as connectTcp } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { inspect } from "node:util";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  builtIn,
  type KubeObject,
  mutating,
  validating,
  type Webhook,
  type WebhookContext,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import type { Convertible } from "../../src/webhook/conversion-review.ts";
import { WebhookServer, type WebhookServerOptions } from "../../src/webhook/webhook-server.ts";
import { certificates } from "../certificates/certificates.ts";
import { quietLogger } from "../secrets.ts";

const ConfigMap = builtIn<KubeObject & { data?: Record<string, string> }>("v1", "ConfigMap");
const check = validating(ConfigMap, {
  handle: ({ object }) => (object.data?.["bad"] === undefined ? [] : [{ message: "bad" }]),
});
const PATH = "/validate.configmaps.core";
const host = "127.0.0.1";
const { ca, client } = certificates;

interface World {
  readonly server: WebhookServer;
  readonly stop: AbortController;
  readonly running: Promise<void>;
  readonly lines: string[];
}

async function serving(
  options: Partial<WebhookServerOptions>,
  use: (world: World) => Promise<void>,
): Promise<void> {
  const logger = quietLogger();
  const server = new WebhookServer({
    ...{ port: 0, host, hooks: [check], convert: [], clientCa: undefined, drain: 0, logger },
    ...{ context: { logger } as unknown as WebhookContext, clock: realClock, metrics: undefined },
    ...options,
  });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  running.catch(() => {});
  server.show(certificates.server);
  await server.ready();
  try {
    await use({ server, stop, running, lines: logger.lines });
  } finally {
    stop.abort();
    const { clock } = options;
    const drained = setInterval(() => {
      if (clock instanceof FakeClock) void clock.step(60_000);
    }, 10);
    await running;
    clearInterval(drained);
  }
  expect([server.port, server.isOpen, abortListeners(stop.signal)]).toEqual([0, false, 0]);
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

interface Call {
  readonly path?: string;
  readonly method?: string;
  readonly agent?: Agent;
  readonly headers?: Record<string, string>;
}

const review = (request: object = {}, kind = "AdmissionReview", group = "admission") => ({
  apiVersion: `${group}.k8s.io/v1`,
  kind,
  request: { uid: "1", operation: "CREATE", object: { metadata: { name: "a" } }, ...request },
});

/** A call as an API server makes it. */
function call(server: WebhookServer, body: unknown, options: Call = {}): Promise<Answer> {
  const { path = `${PATH}?timeout=5s`, method = "POST", agent, headers } = options;
  const bytes = Buffer.isBuffer(body) || typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { ca, host, port: server.port, path, method, headers, ...(agent && { agent }) },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: incoming.statusCode, headers: incoming.headers, body: text });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(bytes);
  });
}

/** A hook whose calls wait until they are let go. */
function held(): { readonly hook: Webhook; readonly signals: AbortSignal[]; letGo(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const signals: AbortSignal[] = [];
  const hook = validating(ConfigMap, {
    handle: async ({ signal }) => {
      signals.push(signal);
      await opened;
    },
  });
  return { hook, signals, letGo: () => open() };
}

describe("WebhookServer", () => {
  it("answers reviews of its webhooks, and of conversions", async () => {
    const Kind: Convertible = {
      crd: { spec: { group: "example.org", names: { kind: "Kind" } } },
      convert: ((object: object, version: string) => {
        if ("isBad" in object) throw new Error("no way\u001b[2J");
        return { ...object, apiVersion: `example.org/${version}` };
      }) as never,
    };
    const fill = mutating(ConfigMap, { handle: ({ object }) => (object.data = { a: "1" }) });
    await serving({ hooks: [check, fill], convert: [Kind] }, async ({ server, lines }) => {
      const denied = await call(server, review({ object: { metadata: {}, data: { bad: "" } } }));
      expect([denied.status, denied.headers["content-type"]]).toEqual([200, "application/json"]);
      expect(JSON.parse(denied.body)).toMatchObject({
        ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
        response: { uid: "1", allowed: false, status: { code: 422 } },
      });
      const filled = await call(server, review(), { path: "/mutate.configmaps.core" });
      expect(JSON.parse(filled.body)).toMatchObject({
        response: { allowed: true, patchType: "JSONPatch" },
      });

      const convert = async (...objects: object[]): Promise<object> => {
        const desired = { desiredAPIVersion: "example.org/v2", objects };
        const body = review(desired, "ConversionReview", "apiextensions");
        const answer = await call(server, body, { path: "/convert?timeout=30s" });
        expect(answer.status).toBe(200);
        return JSON.parse(answer.body) as object;
      };
      const object = { apiVersion: "example.org/v1", kind: "Kind", spec: 1 };
      expect(await convert(object, object)).toEqual({
        ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" },
        response: {
          uid: "1",
          convertedObjects: [object, object].map((one) => ({
            ...one,
            apiVersion: "example.org/v2",
          })),
          result: { status: "Success" },
        },
      });
      expect(await convert(object, { ...object, isBad: true })).toMatchObject({
        response: {
          convertedObjects: [],
          result: { status: "Failure", message: "no way\\u001b[2J" },
        },
      });
      expect(await convert({ ...object, kind: "constructor" })).toMatchObject({
        response: {
          result: { message: 'no conversion of kind "constructor" to "example.org/v2"' },
        },
      });
      expect(lines.filter((line) => line.includes("conversion failed")).length).toBe(2);
    });
  });

  it("answers in the order of its checks: path, method, size, kind", async () => {
    const big = Buffer.alloc(16 * 1_024 * 1_024 + 1, " ");
    await serving({}, async ({ server }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const rows: [status: number, body: unknown, options?: Call][] = [
        [404, review(), { path: "/other" }],
        [404, review(), { path: "/convert" }],
        [404, review(), { path: `${PATH}/` }],
        [405, "", { method: "GET" }],
        [413, big],
        [413, big, { headers: { "transfer-encoding": "chunked" } }],
        [400, "", {}],
        [400, "{", {}],
        [400, "null", {}],
        [400, [], {}],
        [400, review({}, "ConversionReview")],
        [400, review({}, "AdmissionReview", "apiextensions")],
        [400, { ...review(), request: null }],
        [400, review({ uid: 5 })],
        [400, review({ object: "text" })],
        [200, JSON.stringify(review()).padEnd(16 * 1_024 * 1_024)],
        [200, review()],
      ];
      for (const [status, body, options] of rows)
        expect(await call(server, body, { agent, ...options })).toMatchObject({ status });
      agent.destroy();
    });
  });

  it("speaks HTTP/1.1 alone, and TLS from 1.2 on", async () => {
    await serving({}, async ({ server }) => {
      const socket = connect({ ca, host, port: server.port, ALPNProtocols: ["http/1.1"] });
      await once(socket, "secureConnect");
      expect(socket.alpnProtocol).toBe("http/1.1");
      socket.destroy();
      for (const options of [
        { ALPNProtocols: ["h2"] },
        { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const,
      ]) {
        const refused = connect({ ca, host, port: server.port, ...options });
        const [error] = (await once(refused, "error")) as [NodeJS.ErrnoException];
        expect(error.code).toMatch(/ALERT|PROTOCOL|VERSION|ECONNRESET/);
      }
    });
  });

  it("asks for a certificate of clientCa, also after a new certificate of its own", async () => {
    await serving({ clientCa: ca }, async ({ server }) => {
      const known = new Agent({ ...client, ca });
      const unknown = new Agent({ ca });
      for (let swaps = 0; swaps < 2; swaps++) {
        expect(await call(server, review(), { agent: known })).toMatchObject({ status: 200 });
        await expect(call(server, review(), { agent: unknown })).rejects.toThrow();
        server.show(certificates.server);
      }
    });
  });

  it("shows a new certificate to new connections, and serves the open ones on", async () => {
    await serving({}, async ({ server }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      await call(server, review(), { agent });
      server.show(certificates.elsewhere);
      expect(await call(server, review(), { agent })).toMatchObject({ status: 200 });
      agent.destroy();
      await expect(call(server, review())).rejects.toThrow(/altnames/);
      expect(() => server.show({ ...certificates.server, key: certificates.client.key })).toThrow();
      await expect(call(server, review())).rejects.toThrow(/altnames/);
    });
  });

  it("answers 503 with Retry-After beyond 256 calls in flight", async () => {
    const { hook, signals, letGo } = held();
    await serving({ hooks: [hook] }, async ({ server }) => {
      const calls = Array.from({ length: 256 }, () => call(server, review()));
      await expect.poll(() => signals.length).toBe(256);
      const more = await call(server, review());
      expect([more.status, more.headers["retry-after"]]).toEqual([503, "1"]);
      expect(server.inFlight).toEqual({ [PATH]: 256 });
      letGo();
      for (const answer of await Promise.all(calls)) expect(answer.status).toBe(200);
      expect(server.inFlight).toEqual({ [PATH]: 0 });
    });
  });

  it("closes the connection that was idle longest for the one beyond 512", async () => {
    await serving({}, async ({ server }) => {
      const sockets: TLSSocket[] = [];
      let closed: TLSSocket[] = [];
      const open = async (): Promise<void> => {
        const socket = connect({ ca, host, port: server.port });
        socket.on("close", () => closed.push(socket));
        socket.on("error", () => {});
        sockets.push(socket);
        await once(socket, "secureConnect");
      };
      for (let n = 0; n < 512; n++) await open();
      await open();
      // On a slow machine others follow, which have been silent for 5 s.
      await expect.poll(() => closed.length).toBeGreaterThan(0);
      expect(closed[0]).toBe(sockets[0]);
      expect(await call(server, review())).toMatchObject({ status: 200 });
      closed = [];
      for (const socket of sockets) socket.destroy();
    });
  });

  it("closes a connection that is silent, without a handshake, slow with its head, or sends two requests at once", async () => {
    const { hook, letGo } = held();
    await serving({ hooks: [hook] }, async ({ server: { port } }) => {
      const body = JSON.stringify(review());
      const once = `POST ${PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      const peers = ["", "POST / HTTP/1.1\r\nhost:", once.repeat(2)].map((text) => {
        const socket = connect({ ca, host, port }, () => socket.write(text));
        return socket;
      });
      const all = [...peers, connectTcp({ host, port })];
      for (const socket of all) socket.on("error", () => {}).resume();
      await expect.poll(() => all.filter(({ closed }) => !closed)).toEqual([]);
      letGo();
    });
  });

  it("aborts the signal of a handler after nine tenths of its time, and answers 500", async () => {
    const clock = new FakeClock();
    const { hook, signals, letGo } = held();
    await serving({ hooks: [hook], clock }, async ({ server }) => {
      const answer = call(server, review(), { path: `${PATH}?timeout=2s` });
      await expect.poll(() => signals.length).toBe(1);
      await clock.step(1_799);
      expect(signals[0]?.aborted).toBe(false);
      await clock.step(1);
      expect(signals[0]?.aborted).toBe(true);
      expect(await answer).toMatchObject({ status: 500, body: "no answer in time" });
      expect(clock.waiters()).toBe(0);
      letGo();
    });
  });

  it("aborts the signal of a handler when its caller has gone", async () => {
    const { hook, signals, letGo } = held();
    await serving({ hooks: [hook] }, async ({ server }) => {
      const agent = new Agent();
      const answer = call(server, review(), { agent });
      answer.catch(() => {});
      await expect.poll(() => signals.length).toBe(1);
      agent.destroy();
      await expect(answer).rejects.toThrow();
      await expect.poll(() => signals[0]?.aborted).toBe(true);
      letGo();
    });
  });

  it("closes each connection with its answer while it drains, then its port", async () => {
    const clock = new FakeClock();
    await serving({ clock, drain: 10_000 }, async ({ server, stop, running }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const before = await call(server, review(), { agent });
      // API servers close connections that were idle for 90 s: the server must be later.
      expect(before.headers).toMatchObject({
        connection: "keep-alive",
        "keep-alive": "timeout=120",
      });
      expect(server.isOpen).toBe(true);
      stop.abort();
      expect(server.isOpen).toBe(false);
      await expect.poll(() => clock.waiters()).toBe(1);
      for (let n = 0; n < 3; n++) {
        const answer = await call(server, review(), { agent });
        expect([answer.status, answer.headers["connection"]]).toEqual([200, "close"]);
      }
      await clock.step(9_999);
      expect(await call(server, review())).toMatchObject({ status: 200 });
      await clock.step(1);
      await running;
      await expect(call(server, review())).rejects.toThrow(/ECONNREFUSED/);
      agent.destroy();
    });
  });

  it("answers the calls that are in flight when its port closes", async () => {
    const { hook, signals, letGo } = held();
    await serving({ hooks: [hook] }, async ({ server, stop, running }) => {
      const answer = call(server, review());
      await expect.poll(() => signals.length).toBe(1);
      stop.abort();
      await expect.poll(() => server.port).toBe(0);
      letGo();
      expect(await answer).toMatchObject({ status: 200 });
      await running;
    });
  });

  it("survives bodies that are cut anywhere, and bytes of chance", async () => {
    await serving({}, async ({ server, lines }) => {
      const body = Buffer.from(JSON.stringify(review()));
      const head = `POST ${PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n`;
      const whole = Buffer.concat([Buffer.from(head), body]);
      for (let at = 0; at < whole.length; at += 7) {
        const socket = connect({ ca, host, port: server.port });
        socket.on("error", () => {});
        await once(socket, "secureConnect");
        socket.end(whole.subarray(0, at));
        await once(socket.resume(), "close");
      }
      for (const bytes of [Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.alloc(500, 22)]) {
        const socket = connectTcp({ host, port: server.port });
        socket.on("error", () => {});
        socket.end(bytes);
        await once(socket.resume(), "close");
      }
      // A cut body that is whole JSON cannot be, so all of them are 400 or have no answer.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let at = 0; at < body.length; at++)
        expect(await call(server, body.subarray(0, at), { agent })).toMatchObject({ status: 400 });
      agent.destroy();
      expect(await call(server, body)).toMatchObject({ status: 200 });
      expect([server.inFlight, lines]).toEqual([{ [PATH]: 0 }, []]);
    });
  });

  it("never listens if it is stopped before its first certificate", async () => {
    const logger = quietLogger();
    const server = new WebhookServer({
      ...{ port: 0, host, hooks: [], convert: [], clientCa: undefined, drain: 10_000, logger },
      ...{ context: {} as WebhookContext, clock: new FakeClock(), metrics: undefined },
    });
    const stop = new AbortController();
    const running = server.run(stop.signal);
    const ready = server.ready();
    stop.abort(new Error("stopped"));
    await expect(ready).rejects.toThrow("stopped");
    await running;
    expect([server.port, inspect(server).includes("PRIVATE KEY")]).toEqual([0, false]);
  });

  it("names the option of a port that is taken", async () => {
    await serving({}, async ({ server: { port } }) => {
      await expect(serving({ port }, async () => {})).rejects.toThrow(
        `cannot listen on options.webhooks.port ${port}`,
      );
    });
  });
});
