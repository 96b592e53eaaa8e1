import { FakeClock } from "@holdfast/clock/testing";
import { type Logger, Manager, silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type CachedObject,
  type EventDetails,
  EventRecorder,
  type EventRecorderOptions,
  KubeClient,
  type KubeObject,
  type KubeRequest,
} from "@holdfast/kubernetes";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { busy, failure, type Step, scriptedTransport } from "../client/scripted-transport.ts";
import { plain404 } from "../plain-404.ts";

const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const Namespace = builtIn<KubeObject>("v1", "Namespace");
const Event = builtIn<KubeObject & { series?: { count: number } }>("events.k8s.io/v1", "Event");
const synced: EventDetails = { reason: "Synced", action: "Sync", note: "all is well" };

let clock: FakeClock;
let api: FakeApi;
let sent: [number, string, unknown][];
let fault: ((request: KubeRequest) => Promise<void>) | undefined;
let client: KubeClient;
let lines: [string, string][];
let stop: AbortController;

const logger: Logger = {
  ...silentLogger,
  debug: (_details, message) => void lines.push(["debug", message]),
  warn: (_details, message) => void lines.push(["warn", message]),
  error: (_details, message) => void lines.push(["error", message]),
};

beforeEach(() => {
  clock = new FakeClock();
  const start = clock.monotonic();
  api = new FakeApi({ clock, resources: [ConfigMap, Namespace, Event] });
  sent = [];
  lines = [];
  fault = undefined;
  const send = async (request: KubeRequest, signal: AbortSignal) => {
    const { method, path, body = "" } = request;
    sent.push([clock.monotonic() - start, `${method} ${path}`, JSON.parse(body)]);
    await fault?.(request);
    return await api.transport.send(request, signal);
  };
  client = new KubeClient({ transport: { ...api.transport, send }, clock });
  stop = new AbortController();
});

const recorder = (options: Partial<EventRecorderOptions> = {}): EventRecorder =>
  new EventRecorder({ client, controller: "greeter", clock, random: () => 0, logger, ...options });

const object = (metadata: object = { namespace: "default", name: "ann", uid: "u1" }) =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata }) as CachedObject<KubeObject>;

const requests = (): unknown[] => sent.map(([at, request]) => [at, request.split("?")[0]]);
const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";
const FIRST = "ann.dc6acfac00.0000001";

async function ended(running: Promise<void>): Promise<void> {
  stop.abort("stop");
  await running;
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
}

describe("EventRecorder", () => {
  const dropped = ["error", "event dropped; the server rejected it"];
  const retried = ["warn", "reconcile failed; key retried after delay"];
  const givenUp = ["error", "reconcile failed; key not retried"];
  const page = (status: number): Step => ({ status, body: "<html>" });

  it.each<[name: string, step: Step, ...lines: string[][]]>([
    ["the server forbids", failure(403, "Forbidden"), dropped],
    ["the server finds invalid", failure(422, "Invalid"), dropped],
    ["a proxy refuses, in a page", page(413), dropped],
    ["an admission webhook fails for", failure(500, "InternalError"), retried, givenUp],
    ["the server conflicts", failure(409, "Conflict"), retried, givenUp],
    ["the server does not serve", page(404), retried, givenUp],
    ["the server has no place for", busy(429, 1), retried, givenUp],
    ["a page is sent for", page(200), retried, givenUp],
    ["no connection takes", new Error("ECONNREFUSED"), retried, givenUp],
  ])("logs one line a minute for the events that %s", async (_name, step, ...expected) => {
    const { transport } = scriptedTransport(step);
    const events = recorder({ client: new KubeClient({ transport, clock }) });
    const running = events.run(stop.signal);
    for (let at = 0; at < 26; at++) {
      const name = String.fromCodePoint(97 + at);
      events.record(object({ namespace: name, name, uid: name }), synced);
      await clock.step(1_000);
    }
    await clock.step(3_600_000);
    expect(lines.filter(([level]) => level !== "debug" && level !== "info")).toEqual(expected);
    lines = [];
    events.record(object(), synced);
    await clock.step(3_600_000);
    expect(lines.filter(([level]) => level !== "debug" && level !== "info")).toEqual(expected);
    await ended(running);
  });

  it("logs one line a minute for events that are none", async () => {
    const events = recorder();
    for (let at = 0; at < 50; at++) {
      events.record(object({ namespace: "default" }), synced);
      await clock.step(1_300);
    }
    expect(lines).toEqual([
      ["warn", "invalid event dropped"],
      ["warn", "invalid event dropped"],
    ]);
  });

  it("logs one line for the names that the client refuses", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    for (const namespace of ["A", "B", "C"])
      events.record(object({ namespace, name: "a" }), synced);
    await clock.step(1_000);
    expect(lines.filter(([level]) => level !== "debug")).toEqual([dropped]);
    await ended(running);
  });

  it("creates an event with all fields that the server requires", async () => {
    const events = recorder({ instance: "greeter-7f_1" });
    const running = events.run(stop.signal);
    await clock.step(1_234);
    events.record(object(), { ...synced, type: "Warning" });
    await clock.step(0);
    expect(sent).toHaveLength(1);
    expect(sent[0]?.[2]).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { namespace: "default", name: "ann.dc6acfb0d2.0000001" },
      eventTime: "2000-01-01T00:00:01.234000Z",
      reportingController: "greeter",
      reportingInstance: "greeter-7f_1",
      action: "Sync",
      reason: "Synced",
      regarding: {
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace: "default",
        name: "ann",
        uid: "u1",
      },
      note: "all is well",
      type: "Warning",
    });
    expect(sent[0]?.[2]).not.toHaveProperty("series");
    await ended(running);
  });

  it("patches the count of repetitions, every 10 s at most", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    for (let second = 0; second < 25; second++) {
      events.record(object(), synced);
      await clock.step(1_000);
    }
    expect(requests()).toEqual([
      [0, `POST ${EVENTS}`],
      [10_000, `PATCH ${EVENTS}/${FIRST}`],
      [20_000, `PATCH ${EVENTS}/${FIRST}`],
    ]);
    expect(sent.slice(1).map(([, , body]) => body)).toEqual([
      { series: { count: 10, lastObservedTime: "2000-01-01T00:00:09.000000Z" } },
      { series: { count: 20, lastObservedTime: "2000-01-01T00:00:19.000000Z" } },
    ]);
    await ended(running);
    expect(sent[3]?.[2]).toMatchObject({ series: { count: 25 } });
  });

  it("counts what is recorded during a write, and writes it after the interval", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    fault = () => clock.sleep(500);
    events.record(object(), synced);
    await clock.step(100);
    events.record(object(), synced);
    await clock.step(30_000);
    expect(requests()).toEqual([
      [0, `POST ${EVENTS}`],
      [10_500, `PATCH ${EVENTS}/${FIRST}`],
    ]);
    expect(sent[1]?.[2]).toMatchObject({ series: { count: 2 } });
    await ended(running);
  });

  it("gives an event up after 12 retries, with what is recorded during the last one", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    fault = async () => {
      if (sent.length === 13) events.record(object(), synced);
      throw new Error("down");
    };
    events.record(object(), synced);
    await clock.step(3_600_000);
    expect(sent).toHaveLength(13);
    fault = undefined;
    await clock.step(3_600_000);
    expect(sent).toHaveLength(13);
    await ended(running);
  });

  it("does not retry a failed write sooner because of repetitions", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    fault = async () => {
      await clock.sleep(5);
      throw new Error("down");
    };
    for (let time = 0; time < 1_000; time += 2) {
      events.record(object(), synced);
      await clock.step(2);
    }
    // Each attempt takes 5 ms; the delays in between are 5, 10, 20 ms and so on.
    expect(sent.map(([at]) => at)).toEqual([0, 10, 25, 50, 95, 180, 345, 670]);
    fault = undefined;
    await clock.step(1_000);
    expect(sent).toHaveLength(9);
    expect(sent[8]?.[2]).toMatchObject({ series: { count: 500 } });
    await ended(running);
  });

  it("writes events recorded before its run, with the current count", async () => {
    const events = recorder();
    for (let i = 0; i < 3; i++) events.record(object(), synced);
    const running = events.run(stop.signal);
    await clock.step(0);
    expect(sent.map(([, , body]) => body)).toMatchObject([{ series: { count: 3 } }]);
    await ended(running);
  });

  it("puts events about objects of cluster scope into the namespace default", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    events.record({ apiVersion: "v1", kind: "Namespace", metadata: { name: "jobs" } }, synced);
    await clock.step(0);
    const body = sent[0]?.[2] as { regarding: object };
    expect(requests()).toEqual([[0, `POST ${EVENTS}`]]);
    expect(body.regarding).toEqual({ apiVersion: "v1", kind: "Namespace", name: "jobs" });
    await ended(running);
  });

  it("cuts texts to the limits of the server", async () => {
    const events = recorder({ instance: "i".repeat(200) });
    const running = events.run(stop.signal);
    const long = { reason: "r".repeat(200), action: "a".repeat(200), note: "€".repeat(1_000) };
    events.record(object(), long);
    await clock.step(0);
    expect(sent[0]?.[2]).toMatchObject({
      reason: "r".repeat(128),
      action: "a".repeat(128),
      note: "€".repeat(341),
      reportingInstance: "i".repeat(128),
    });
    await ended(running);
  });

  it.each<[string, unknown, unknown]>([
    ["no object", undefined, synced],
    ["an object without a kind", { metadata: { name: "ann" } }, synced],
    ["an object without a name", { apiVersion: "v1", kind: "ConfigMap" }, synced],
    ["no event", object(), undefined],
    ["another type", object(), { ...synced, type: "Error" }],
    ["no reason", object(), { ...synced, reason: "" }],
    ["no action", object(), { ...synced, action: undefined }],
  ])("logs and drops an event with %s", async (_name, about, event) => {
    const events = recorder();
    events.record(about as never, event as never);
    expect(lines).toEqual([["warn", "invalid event dropped"]]);
    const failing = recorder({
      logger: {
        ...logger,
        warn: () => {
          throw new Error("no log");
        },
      },
    });
    failing.record(about as never, event as never);
  });

  it("logs events that its limits drop", () => {
    const events = recorder();
    for (let i = 0; i < 26; i++) events.record(object(), { ...synced, reason: `r${i}` });
    expect(lines).toEqual([["debug", "event dropped"]]);
  });

  it("repeats a failed write under the same name", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    let failures = 2;
    fault = async () => {
      if (failures-- > 0) throw new Error("reset");
    };
    events.record(object(), synced);
    await clock.step(1_000);
    const names = sent.map(([, , body]) => (body as KubeObject).metadata?.name);
    expect(names).toEqual([FIRST, FIRST, FIRST]);
    await ended(running);
  });

  it("treats an existing event as its own after a lost response", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    let isFirst = true;
    fault = async (request) => {
      if (!isFirst) return;
      isFirst = false;
      await api.transport.send(request, new AbortController().signal);
      throw new Error("reset");
    };
    events.record(object(), synced);
    await clock.step(60_000);
    expect(requests()).toHaveLength(2);
    await ended(running);
  });

  it.each<[string, object, number]>([
    ["server", { namespace: "default", name: "ann" }, 1],
    ["client", { namespace: "Not_A_Namespace", name: "ann" }, 0],
  ])("drops an event that the %s refuses", async (_name, metadata, requestsSent) => {
    api.intercept({ fault: { type: "status", status: 403 }, verbs: ["create"] });
    const events = recorder();
    const running = events.run(stop.signal);
    events.record(object(metadata), synced);
    await clock.step(3_600_000);
    expect(requests()).toHaveLength(requestsSent);
    expect(lines.filter(([level]) => level === "error")).toHaveLength(1);
    // It may be accepted later: a repetition begins anew.
    events.record(object(metadata), synced);
    await clock.step(0);
    expect(requests()).toHaveLength(2 * requestsSent);
    await ended(running);
  });

  it("continues in a new event when the server has removed the old one", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    events.record(object(), synced);
    await clock.step(0);
    const admin = new KubeClient({ transport: api.transport, clock });
    expect(await admin.delete(Event, `default/${FIRST}`)).toBe(true);
    events.record(object(), synced);
    await clock.step(20_000);
    expect(requests()).toEqual([
      [0, `POST ${EVENTS}`],
      [10_000, `PATCH ${EVENTS}/${FIRST}`],
      [10_000, `POST ${EVENTS}`],
    ]);
    expect(sent[2]?.[2]).toMatchObject({
      metadata: { name: "ann.dc6acfac00.0000002" },
      series: { count: 2 },
    });
    await ended(running);
  });

  it.each<["create" | "patch", string]>([
    ["create", `POST ${EVENTS}`],
    ["patch", `PATCH ${EVENTS}/${FIRST}`],
  ])("repeats a %s after the plain 404 of a starting server", async (verb, request) => {
    const events = recorder();
    const running = events.run(stop.signal);
    api.intercept({ fault: plain404, verbs: [verb], times: 1 });
    events.record(object(), synced);
    await clock.step(0);
    events.record(object(), synced);
    await clock.step(60_000);
    expect(sent.filter(([, line]) => line.startsWith(request))).toHaveLength(2);
    const admin = new KubeClient({ transport: api.transport, clock });
    const stored = [];
    for await (const { metadata, series } of admin.list(Event))
      stored.push([metadata.name, series?.count]);
    expect(stored).toEqual([[FIRST, 2]]);
    await ended(running);
  });

  it("writes an event once that is on its way when it stops", async () => {
    const events = recorder();
    const running = events.run(stop.signal);
    fault = () => clock.sleep(500);
    events.record(object(), synced);
    await clock.step(100);
    stop.abort("stop");
    await clock.step(1_000);
    expect(requests()).toEqual([[0, `POST ${EVENTS}`]]);
    await ended(running);
  });

  it("flushes when it stops, for 2 s at most", async () => {
    const events = recorder();
    const manager = new Manager({ clock, logger: silentLogger });
    manager.add(events);
    const running = manager.run(stop.signal);
    events.record(object(), synced);
    await clock.step(0);
    fault = (_request) => new Promise(() => {});
    events.record(object(), synced);
    await clock.step(1_000);
    stop.abort("stop");
    let isEnded = false;
    void running.then(() => {
      isEnded = true;
    });
    await clock.step(0);
    expect(requests().at(-1)).toEqual([1_000, `PATCH ${EVENTS}/${FIRST}`]);
    await clock.step(1_899);
    expect(isEnded).toBe(false);
    await clock.step(101);
    expect(isEnded).toBe(true);
    events.record(object(), { ...synced, reason: "Late" });
    await clock.step(60_000);
    expect([requests().length, clock.waiters()]).toEqual([2, 0]);
  });

  it.each<[object, string]>([
    [{ client: {} }, "options.client must have a method create()"],
    [{ controller: "" }, "options.controller must be a non-empty string"],
    [{ controller: "a b" }, 'options.controller must be a name such as "greeter"'],
    [{ instance: "" }, "options.instance must be a non-empty string"],
    [{ name: "" }, "options.name must be a non-empty string"],
    [{ clock: {} }, "options.clock must have a method"],
    [{ random: 1 }, "options.random must be a function"],
    [{ logger: {} }, "options.logger must have a method"],
  ])("refuses %o", (options, message) => expect(() => recorder(options)).toThrow(message));
});
