import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  atUrl,
  builtIn,
  Cluster,
  EventRecorder,
  ensureCrd,
  finalize,
  fromKubeConfig,
  HealthServer,
  KubeClient,
  type KubeObject,
  type KubeTransport,
  runOperator,
} from "@holdfast/kubernetes";
import { Gauge, Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../../../services/free-port.mjs";
import { leaks, SECRET, SECRET_DATA, TOKEN } from "./secrets.ts";

const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const Event = builtIn<KubeObject>("events.k8s.io/v1", "Event");
const object = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "ann", namespace: "default", uid: "u", resourceVersion: "1" },
} as never;
const leak = new Error("it failed", { cause: new Error(`Bearer ${TOKEN}`) });

const fails = () => Promise.reject(leak);
const leaking = {
  clock: new FakeClock(),
  find: fails,
  create: fails,
  modify: fails,
  list: fails,
} as never;
const manifest = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "as.b.org" },
  spec: {
    group: "b.org",
    scope: "Cluster",
    names: { kind: "A", plural: "as" },
    versions: [{ name: "v1", served: true, storage: true }],
  },
};

const failing = (error: unknown): KubeTransport => ({
  description: "script",
  send: () => Promise.reject(error),
});

/** The search replaces methods of classes that no entry point exports: it cannot reach those in a bundle. */
const isBundled = Boolean(process.env["TEST_DIST"]);

afterEach(() => {
  // Found as expected: the test is not to fail because of it.
  leaks.length = 0;
});

describe("the search for secrets finds one", () => {
  it.each<[string, () => unknown]>([
    [
      "in an error that finalize rejects with",
      () =>
        finalize(
          { find: () => Promise.reject(leak), patch: () => Promise.reject(leak) },
          ConfigMap,
          object,
          { finalizer: "a.org/b", apply: () => undefined, cleanup: () => undefined },
        ),
    ],
    ["in an error that ensureCrd rejects with", () => ensureCrd(leaking, manifest)],
    [
      "in an error that runOperator rejects with",
      () =>
        runOperator({
          name: "a",
          transport: failing(leak),
          leaderElection: false,
          health: false,
          setup: () => {
            throw leak;
          },
        }),
    ],
    [
      "in an error that fromKubeConfig throws",
      () =>
        fromKubeConfig({
          getCurrentCluster: () => {
            throw leak;
          },
          applyToHTTPSOptions: () => Promise.resolve(),
        } as never),
    ],
    ["in the data of a Secret, as JSON", () => silentLogger.info({ data: SECRET_DATA }, "read")],
    ["in a line for a logger that drops it", () => silentLogger.debug({}, `token ${TOKEN}`)],
    ["in what is printed", () => console.debug(`data ${SECRET}`)],
  ])("%s", async (_name, work) => {
    await (async () => await work())().catch(() => {});
    expect(leaks.length).toBeGreaterThan(0);
  });

  it("in a log line of a cluster", async () => {
    const clock = new FakeClock();
    const cluster = new Cluster({ transport: failing(leak), clock, logger: silentLogger });
    cluster.watch(ConfigMap);
    const stop = new AbortController();
    await clock.run(async () => {
      const running = cluster.run(stop.signal);
      await clock.sleep(10_000);
      stop.abort();
      await running;
    });
    expect(leaks.length).toBeGreaterThan(0);
  });

  it("in the text of metrics, and at their endpoint", async () => {
    const register = new Registry();
    new Gauge({ name: "a", help: `of ${TOKEN}`, registers: [register] });
    await register.metrics();
    expect(leaks.splice(0)).toHaveLength(1);
    const [host, port] = ["127.0.0.1", await freePort()];
    const server = new HealthServer({ host, port, metrics: () => `a{b="${SECRET}"} 1` });
    const stop = new AbortController();
    const running = server.run(stop.signal);
    await server.ready();
    await fetch(`http://${host}:${port}/metrics`);
    stop.abort();
    await running;
    expect(leaks).toHaveLength(1);
  });

  it.skipIf(isBundled)("in the error of a transport", async () => {
    const { signal } = new AbortController();
    const transport = atUrl("http://127.0.0.1:1", { token: fails });
    const sent = transport.send({ method: "GET", path: "/", headers: {} }, signal);
    await expect(sent).rejects.toThrow();
    expect(leaks.length).toBeGreaterThan(0);
  });

  it.skipIf(isBundled)("in an Event", async () => {
    const clock = new FakeClock();
    const api = new FakeApi({ clock, resources: [ConfigMap, Event] });
    const client = new KubeClient({ transport: api.transport, clock });
    const events = new EventRecorder({ client, controller: "a", clock, logger: silentLogger });
    const stop = new AbortController();
    const running = events.run(stop.signal);
    events.record(object, { reason: "Done", action: "Do", note: `with ${TOKEN}` });
    await clock.step(1_000);
    stop.abort();
    await running;
    expect(leaks.length).toBeGreaterThan(0);
  });
});
