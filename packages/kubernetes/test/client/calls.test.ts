import { FakeClock } from "@holdfast/clock/testing";
import {
  ApiError,
  builtIn,
  findError,
  isApiError,
  KubeClient,
  type KubernetesMetrics,
} from "@holdfast/kubernetes";
import { isTimeoutError, TimeoutError } from "@holdfast/wait";
import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { timelineOf } from "../../../../test/timeline.ts";
import { quietLogger, SECRET_DATA, safeErrorOf } from "../secrets.ts";
import { type Answer, busy, failure, type Step, scriptedTransport } from "./scripted-transport.ts";

const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const PATH = "/api/v1/namespaces/default/configmaps/ann";
const FOUND: Answer = {
  body: { metadata: { name: "ann", namespace: "default", uid: "u", resourceVersion: "7" } },
};

/** A client on a script, with a fake clock and a log. */
function world(...steps: readonly Step[]) {
  const clock = new FakeClock();
  const logger = quietLogger();
  const timeline = timelineOf(clock);
  const { transport, requests } = scriptedTransport(...steps);
  const noted: typeof transport = {
    ...transport,
    send: (request, signal) => {
      timeline.note(request.method);
      return transport.send(request, signal);
    },
  };
  const metrics: KubernetesMetrics = {
    requested: (metric) => timeline.note(metric),
    listed: () => {},
    watchEnded: () => {},
    rejected: () => {},
    applySkipped: () => {},
  };
  const client = new KubeClient({ transport: noted, clock, logger });
  const measured = new KubeClient({ transport, clock, logger, metrics });
  const get = (options = {}) => client.get(ConfigMap, "default/ann", options);
  return { clock, logger, timeline, requests, client, measured, get };
}

describe("a failure whose text is longer than 64 KiB", () => {
  it("is read up to there, and its connection is closed", async () => {
    let isClosed = false;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield await Promise.resolve(new Uint8Array(40_000).fill(120));
      } finally {
        isClosed = true;
      }
    }
    const { get } = world({ status: 500, chunks: chunks() });
    const error = await errorOf(get());
    expect(findError(error, ApiError)?.status).toBe(500);
    expect(isClosed).toBe(true);
  });
});

describe("a request that the server defers", () => {
  it.each([429, 503])("with %i and a time is sent again after it", async (code) => {
    const { clock, timeline, get } = world(busy(code, 2), busy(code, 0), busy(code, 7), FOUND);
    const found = await clock.run(() => get());
    expect(found.metadata.uid).toBe("u");
    const times = timeline.events.map(([at]) => at);
    expect(times.slice(0, 2)).toEqual([0, 2_000]);
    const [third = 0, fourth = 0] = times.slice(2);
    // A time of 0 does not switch the backoff off: its second delay is 200 ms, plus jitter.
    expect([third >= 2_200, third <= 2_300, fourth - third]).toEqual([true, true, 7_000]);
  });

  it("waits for the time in the details where there is no header", async () => {
    const details = { details: { retryAfterSeconds: 3 } };
    const { clock, timeline, get } = world(failure(429, "TooManyRequests", details), FOUND);
    await clock.run(() => get());
    expect(timeline.events).toEqual([
      [0, "GET"],
      [3_000, "GET"],
    ]);
  });

  it.each([-3_600_000, 0, 3_600_000])(
    "waits until a date by the server's clock, which differs by %i ms",
    async (difference) => {
      const begin = new FakeClock().now() + difference;
      const dateOf = (ahead: number): string => new Date(begin + ahead).toUTCString();
      const headers = { "retry-after": dateOf(5_000), date: dateOf(0) };
      const refused = failure(503, "ServiceUnavailable", { headers });
      const { clock, timeline, get } = world(refused, FOUND);
      await clock.run(() => get());
      expect(timeline.events).toEqual([
        [0, "GET"],
        [5_000, "GET"],
      ]);
    },
  );

  it("is sent at most six times", async () => {
    const { clock, timeline, get } = world(busy(429, 4));
    const error = await clock.run(() => safeErrorOf(get()));
    expect(error).toMatchObject({ status: 429, retryAfter: 4_000 });
    expect(timeline.events.map(([at]) => at)).toEqual([0, 4_000, 8_000, 12_000, 16_000, 20_000]);
  });

  it("fails at once if the time is beyond the timeout", async () => {
    const { clock, timeline, get } = world(busy(429, 3), busy(429, 2), FOUND);
    const error = await clock.run(() => safeErrorOf(get({ timeout: 4_999 })));
    expect(timeline.elapsed()).toBe(3_000);
    expect(isApiError(error, "TooManyRequests")).toBe(true);
    expect(clock.waiters()).toBe(0);
  });

  it("fails at once if the time ends exactly with the timeout", async () => {
    const { get, clock, requests } = world(busy(429, 7));
    const error = await clock.run(() => errorOf(get({ timeout: 7_000 })));
    expect([isApiError(error, "TooManyRequests"), requests.length]).toEqual([true, 1]);
    expect(clock.waiters()).toBe(0);
  });

  it("is sent again as often as retries allows", async () => {
    const { get, clock, requests } = world(busy(429, 1));
    await clock.run(() => errorOf(get({ retries: 0 })));
    expect(requests).toHaveLength(1);
    await clock.run(() => errorOf(get({ retries: 2 })));
    expect(requests).toHaveLength(4);
  });

  it("waits for delays that the client's own random draws", async () => {
    const times = async (random: () => number): Promise<number[]> => {
      const clock = new FakeClock();
      const start = clock.monotonic();
      const at: number[] = [];
      const { transport } = scriptedTransport(busy(503, 0));
      const send: typeof transport.send = (...request) => {
        at.push(clock.monotonic() - start);
        return transport.send(...request);
      };
      const client = new KubeClient({ transport: { ...transport, send }, clock, random });
      await clock.run(() => errorOf(client.get(ConfigMap, "default/ann")));
      return at;
    };
    expect(await times(() => 0)).toEqual([0, 100, 300, 700, 1_500, 3_100]);
    expect(await times(() => 0.5)).toEqual([0, 125, 375, 875, 1_875, 3_875]);
  });

  it("is sent again for writes too: it was not executed", async () => {
    const { clock, timeline, client } = world(busy(429, 1), FOUND);
    await clock.run(() => client.delete(ConfigMap, "default/ann"));
    expect(timeline.events).toEqual([
      [0, "DELETE"],
      [1_000, "DELETE"],
    ]);
  });

  it("makes a modify begin again, with the object as it is then", async () => {
    const metadata = { name: "ann", namespace: "default", uid: "u", resourceVersion: "7" };
    const stored = (a: string) => ({ body: { metadata, data: { a } } });
    const { clock, timeline, requests, client } = world(
      stored("old"),
      busy(429, 1),
      stored("new"),
      FOUND,
    );
    await clock.run(() =>
      client.modify(ConfigMap, "default/ann", ({ data }) => {
        if (data) data["b"] = "added";
      }),
    );
    expect(timeline.events).toEqual([
      [0, "GET"],
      [0, "PUT"],
      [1_000, "GET"],
      [1_000, "PUT"],
    ]);
    expect(JSON.parse(requests[3]?.body ?? "")).toMatchObject({ data: { a: "new", b: "added" } });
  });

  it.each([
    ["429 without a time", failure(429, "TooManyRequests")],
    ["503 without a time", failure(503, "ServiceUnavailable")],
    ["500 with a time", busy(500, 1)],
    ["504 with a time", busy(504, 1)],
    ["409 with a time", busy(409, 1)],
    ["a reset", Object.assign(new Error("reset"), { code: "ECONNRESET" })],
  ] as const)("is not sent again for %s", async (_, step) => {
    const { clock, requests, get } = world(step, FOUND);
    await clock.run(() => safeErrorOf(get()));
    expect(requests).toHaveLength(1);
  });
});

describe("the timeout of a call", () => {
  it("is 30 s, and its error names method and path", async () => {
    const { clock, timeline, get } = world("silence");
    const error = await clock.run(() => safeErrorOf(get()));
    expect(timeline.elapsed()).toBe(30_000);
    expect(isTimeoutError(error)).toBe(true);
    expect(error.message).toBe(`GET ${PATH}: timed out after 30000 ms`);
    expect(error).toMatchObject({ name: "TimeoutError", timeout: 30_000 });
    expect(error).not.toHaveProperty("cause");
    expect(clock.waiters()).toBe(0);
  });

  it("has the last rejection as its cause", async () => {
    const { clock, timeline, get } = world(busy(429, 1), "silence");
    const error = await clock.run(() => safeErrorOf(get({ timeout: 5_000 })));
    expect(timeline.elapsed()).toBe(5_000);
    expect(error.cause).toMatchObject({ status: 429 });
  });

  it("has no cause if the last request was not refused", async () => {
    const { clock, client } = world(busy(429, 1), FOUND, "silence");
    const work = () =>
      client.modify(ConfigMap, "default/ann", ({ metadata }) => (metadata.labels = {}));
    const error = await clock.run(() => safeErrorOf(work()));
    expect(error.message).toBe(`PUT ${PATH}: timed out after 30000 ms`);
    expect(error).not.toHaveProperty("cause");
  });

  it("is that of every page of a list", async () => {
    const page = { body: { items: [{ metadata: { uid: "u" } }], metadata: { continue: "more" } } };
    const { clock, timeline, client } = world(page, "silence");
    const error = await clock.run(async () => {
      const list = client.list(ConfigMap, { timeout: 5_000 });
      await list.next();
      await clock.sleep(60_000);
      return await safeErrorOf(list.next());
    });
    expect(timeline.elapsed()).toBe(65_000);
    expect(error.message).toBe("GET /api/v1/configmaps: timed out after 5000 ms");
  });

  it("of 0 sends nothing", async () => {
    const { clock, requests, get } = world(FOUND);
    expect(isTimeoutError(await clock.run(() => errorOf(get({ timeout: 0 }))))).toBe(true);
    expect(requests).toEqual([]);
  });
});

describe("an abort", () => {
  it.each<[string, readonly Step[]]>([
    ["during a request", ["silence"]],
    ["while it waits to send again", [busy(429, 20), FOUND]],
    ["after a conflict", [FOUND, failure(409, "Conflict"), "silence"]],
  ])("%s rejects with the reason itself, and leaves nothing", async (name, steps) => {
    const { clock, timeline, client } = world(...steps);
    const stop = new AbortController();
    const reason = new TimeoutError(1, { cause: "mine" });
    const work = name.includes("conflict")
      ? client.modify(ConfigMap, "default/ann", ({ metadata }) => (metadata.labels = {}), stop)
      : client.get(ConfigMap, "default/ann", stop);
    clock.afterFunc(5_000, () => stop.abort(reason));
    expect(await clock.run(() => errorOf(work))).toBe(reason);
    expect(timeline.elapsed()).toBe(5_000);
    expect(clock.waiters()).toBe(0);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("before the call rejects with the reason itself, and sends nothing", async () => {
    const { requests, get } = world(FOUND);
    const reason = new Error("stopped");
    expect(await errorOf(get({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(requests).toEqual([]);
  });

  it("leaves no listener after a call that has succeeded", async () => {
    const { clock, get } = world(FOUND);
    const { signal } = new AbortController();
    await clock.run(() => get({ signal }));
    expect(abortListeners(signal)).toBe(0);
    expect(clock.waiters()).toBe(0);
  });
});

describe("warnings of the server", () => {
  const warned = (...texts: string[]): Answer => {
    const warning = texts.map((text) => `299 - "${text}"`).join(", ");
    return { ...FOUND, headers: { warning } };
  };

  it("are logged, each text once", async () => {
    const { clock, logger, get } = world(
      warned("old"),
      warned("old", 'a \\"new\\", one'),
      warned("old"),
    );
    await clock.run(async () => {
      for (let i = 0; i < 3; i++) await get();
    });
    expect(logger.lines).toEqual([
      "warn: API server sent a warning { warning: 'old' }",
      `warn: API server sent a warning { warning: 'a "new", one' }`,
    ]);
  });

  it("are logged for rejections too, at most 1,000 characters", async () => {
    const { clock, logger, get } = world({
      ...failure(409, "Conflict"),
      ...warned("x".repeat(5_000)),
      status: 409,
    });
    await clock.run(() => safeErrorOf(get()));
    expect(logger.lines).toEqual([
      `warn: API server sent a warning { warning: '${"x".repeat(1_000)}' }`,
    ]);
  });
});

describe("metrics", () => {
  it("count each request that was sent, with its code and duration", async () => {
    const { clock, timeline, measured } = world(
      busy(429, 1),
      FOUND,
      failure(404, "NotFound"),
      new Error("reset"),
      "silence",
    );
    await clock.run(async () => {
      for (let i = 0; i < 4; i++) await measured.find(ConfigMap, "default/ann").catch(() => {});
    });
    const requested = (code: string, duration = 0) => ({ method: "GET", code, duration });
    expect(timeline.events).toEqual([
      [0, requested("429")],
      [1_000, requested("200")],
      [1_000, requested("404")],
      [1_000, requested("<error>")],
      [31_000, requested("<error>", 30_000)],
    ]);
  });

  it("that throw are logged once a minute, and do not fail the call", async () => {
    const { clock, logger } = world();
    const { transport } = scriptedTransport(FOUND);
    const boom = (): never => {
      throw new Error("boom");
    };
    const metrics = {
      requested: boom,
      listed: boom,
      watchEnded: boom,
      rejected: boom,
      applySkipped: boom,
    };
    const client = new KubeClient({ transport, clock, logger, metrics });
    for (let calls = 0; calls < 2; calls++)
      expect((await client.get(ConfigMap, "default/ann")).metadata.uid).toBe("u");
    expect(logger.lines).toEqual([
      expect.stringMatching(/^warn: metrics threw; request not counted \{\s+err: Error: boom/),
    ]);
  });
});

describe("a response that no API server sends", () => {
  const HTML = `<html>${"login ".repeat(1_000)}</html>`;

  it("such as HTML is an error that names the server", async () => {
    const { clock, get } = world({ headers: { "content-type": "text/html" }, body: HTML });
    const error = await clock.run(() => safeErrorOf(get()));
    expect(error.message).toBe(
      `GET ${PATH}: 200: the response is not a JSON object (text/html): is script an API server?`,
    );
  });

  it("such as HTML with a status is cut to 1,000 characters", async () => {
    const { clock, get } = world({ status: 502, body: HTML });
    const { message } = await clock.run(() => safeErrorOf(get()));
    expect(message).toBe(`GET ${PATH}: 502: ${HTML.slice(0, 1_000)}…`);
  });

  it.each(["null", "[1", '"text"', ""])("such as %j is an error", async (body) => {
    const { clock, get } = world({ body });
    expect((await clock.run(() => safeErrorOf(get()))).message).toContain("is not a JSON object");
  });

  it("such as a redirect is an error that says so, without its target", async () => {
    const { clock, get } = world({
      status: 301,
      headers: { location: `https://x/${SECRET_DATA}` },
    });
    expect((await clock.run(() => safeErrorOf(get()))).message).toBe(
      `GET ${PATH}: 301: the response is a redirect, which is not followed: check the server address`,
    );
  });

  it("such as one above 64 MiB is an error that names the request, and is abandoned", async () => {
    let chunks = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        chunks++;
        yield await Promise.resolve(new Uint8Array(8 * 1024 * 1024));
      }
    }
    const { clock, get } = world({ chunks: endless() });
    const error = await clock.run(() => safeErrorOf(get()));
    expect(String(error)).toBe(
      `BodyTooLongError: GET ${PATH}: the response has more than 67108864 bytes`,
    );
    expect(chunks).toBe(9);
  });

  it("such as one with __proto__ changes no prototype", async () => {
    const evil = '"__proto__":{"polluted":1}';
    const body = `{"metadata":{"name":"ann","namespace":"default","resourceVersion":"7",${evil}},${evil}}`;
    const { clock, client } = world({ body });
    const object = await clock.run(() => client.get(ConfigMap, "default/ann"));
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(object).not.toHaveProperty("polluted", 1);
    await clock.run(() =>
      client.modify(ConfigMap, "default/ann", ({ metadata }) => (metadata.labels = {})),
    );
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("such as a rejection without a message shows nothing of its data", async () => {
    const { clock, get } = world({ status: 500, body: { data: { password: SECRET_DATA } } });
    const error = await clock.run(() => safeErrorOf(get()));
    expect(error.message).toBe(`GET ${PATH}: 500: the server sent no message`);
  });
});

describe("a write that a gateway has passed and then answered 503 with a time", () => {
  const gateway = {
    status: 503,
    headers: { "retry-after": "1", "content-type": "text/plain" },
    body: "upstream connect error",
  };
  const server = failure(503, "ServiceUnavailable", { headers: { "retry-after": "1" } });
  const found = { metadata: { namespace: "default", name: "ann", uid: "u", resourceVersion: "1" } };

  it.each([
    ["create", (client: KubeClient) => client.create(ConfigMap, found)],
    ["patch", (client: KubeClient) => client.patch(ConfigMap, "default/ann", [])],
    ["delete", (client: KubeClient) => client.delete(ConfigMap, "default/ann")],
  ])("is not sent again: %s", async (_, write) => {
    const clock = new FakeClock();
    const { transport, requests } = scriptedTransport(gateway, { body: found });
    const client = new KubeClient({ transport, clock });
    const error = await clock.run(() => errorOf(write(client) as Promise<unknown>));
    expect(isApiError(error)).toBe(true);
    expect(requests).toHaveLength(1);
  });

  it("is sent again if the Status of the server says that it was not done", async () => {
    const clock = new FakeClock();
    const { transport, requests } = scriptedTransport(server, { body: found });
    const client = new KubeClient({ transport, clock });
    await clock.run(() => client.create(ConfigMap, found));
    expect(requests).toHaveLength(2);
  });

  it("a read is sent again after both", async () => {
    const clock = new FakeClock();
    const { transport, requests } = scriptedTransport(gateway, server, { body: found });
    const client = new KubeClient({ transport, clock });
    await clock.run(() => client.get(ConfigMap, "default/ann"));
    expect(requests).toHaveLength(3);
  });
});
