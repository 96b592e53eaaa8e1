import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { HealthServer, runOperator } from "@holdfast/kubernetes";
import { beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { Greeting, OperatorWorld } from "./operator-world.ts";

const host = "127.0.0.1";

let clock: FakeClock;
let world: OperatorWorld;
let port: number;

beforeEach(async () => {
  clock = new FakeClock();
  world = new OperatorWorld(clock);
  port = await freePort();
});

async function probe(path: string): Promise<[number, ...string[]]> {
  const response = await fetch(`http://${host}:${port}${path}`);
  return [response.status, ...(await response.text()).split("\n")];
}

/** Steps until the port is open: that takes real time. */
async function opened(): Promise<void> {
  for (;;) {
    await clock.step(0);
    const isOpen = await probe("/healthz").then(
      () => true,
      () => false,
    );
    if (isOpen) return;
  }
}

describe("probes of an operator", () => {
  it("follow the start, the informers and the lock", async () => {
    const replica = world.start("a", { health: { port, host } });
    replica.transport.hangs = ({ path }) => path.includes("configmaps");
    await opened();
    await clock.step(1_000);
    expect(await probe("/healthz")).toEqual([200, "lease ok"]);
    expect(await probe("/readyz")).toEqual([
      503,
      "started failed",
      "informer greetings.example.org ok",
      "informer configmaps failed",
      "leader election failed",
    ]);
    replica.transport.hangs = () => false;
    await clock.step(120_000);
    expect(await probe("/readyz")).toEqual([
      200,
      "started ok",
      "informer greetings.example.org ok",
      "informer configmaps ok",
      "leader election ok",
    ]);
    replica.transport.hangs = ({ path }) => path.includes("leases");
    await clock.step(15_001);
    expect((await probe("/readyz")).slice(-1)).toEqual(["leader election failed"]);
    expect(await probe("/metrics")).toEqual([404, "not found"]);
    await world.end();
  });

  it("follow the slots of a replica that shares the keys", async () => {
    const replica = world.start("a", {
      leaderElection: false,
      shards: { count: 2 },
      health: { port, host },
    });
    await opened();
    await clock.step(10_000);
    const ready = [
      "started ok",
      "informer greetings.example.org ok",
      "informer configmaps ok",
      "shards ok",
    ];
    expect(await probe("/readyz")).toEqual([200, ...ready]);
    replica.transport.hangs = ({ path }) => path.includes("leases");
    await clock.step(15_001);
    expect((await probe("/readyz")).slice(-1)).toEqual(["shards failed"]);
    await world.end();
  });

  it("succeed for an account that may list but not watch, until it may not list either", async () => {
    const fault = { type: "status", status: 403 } as const;
    world.api.intercept({ fault, verbs: ["watch"], resource: Greeting });
    world.start("a", { health: { port, host } });
    await opened();
    await clock.step(60 * 60_000);
    expect((await probe("/readyz"))[0]).toBe(200);
    const rule = world.api.intercept({ fault, verbs: ["list"], resource: Greeting });
    await clock.step(16 * 60_000);
    const ready = await probe("/readyz");
    expect([ready[0], ready.filter((line) => String(line).endsWith(" failed"))]).toEqual([
      503,
      ["informer greetings.example.org failed"],
    ]);
    rule[Symbol.dispose]();
    await clock.step(30_000);
    expect((await probe("/readyz"))[0]).toBe(200);
    await world.end();
  });

  it("succeed on a standby, and stay live while the server is unreachable", async () => {
    world.start("a");
    await clock.step(1_000);
    world.start("b", { health: { port, host, metrics: () => "up 1" } });
    await opened();
    await clock.step(30_000);
    expect((await probe("/readyz"))[0]).toBe(200);
    expect(await probe("/metrics")).toEqual([200, "up 1"]);
    world.api.stop();
    await clock.step(14 * 60_000);
    const during = await probe("/readyz");
    expect(during).toContain("informer configmaps ok");
    await clock.step(2 * 60_000);
    expect(await probe("/readyz")).toContain("informer configmaps failed");
    expect(await probe("/healthz")).toEqual([200, "lease ok"]);
    await world.end();
  });

  it.each([
    ["with an election, one lease", undefined, 15_000],
    ["without an election, 15 minutes", false as const, 900_000],
  ])("in an outage are ready %s after the last answer", async (_name, leaderElection, ready) => {
    world.start("a", { health: { port, host }, leaderElection });
    await opened();
    await clock.step(30_000);
    world.api.stop();
    const from = clock.monotonic();
    while ((await probe("/readyz"))[0] === 200) await clock.step(1_000);
    const took = clock.monotonic() - from;
    console.log(`not ready ${took / 1_000} s after the API server went away (${_name})`);
    // The last answer may be older than the outage: of the lease by a renewal, of a watch by a bookmark.
    expect(took).toBeLessThanOrEqual(ready + 1_000);
    expect(took).toBeGreaterThan(ready - 60_000);
    expect(await probe("/healthz")).toContain(200);
    await world.end();
  });

  it("fail for work that outlives its lease, and include custom checks", async () => {
    let isDiskFull = false;
    const health = { port, host, ready: { disk: () => !isDiskFull } };
    let release = (): void => {};
    const replica = world.start("a", {
      health,
      setup: () => () => [{ name: "deaf", run: () => new Promise<void>((end) => (release = end)) }],
    });
    await opened();
    await clock.step(10_000);
    expect(await probe("/readyz")).toContain("disk ok");
    isDiskFull = true;
    expect((await probe("/readyz"))[0]).toBe(503);
    replica.transport.hangs = () => true;
    // The last renewal was at 10 s.
    await clock.step(15_000);
    expect(await probe("/healthz")).toEqual([200, "lease ok"]);
    await clock.step(1);
    expect(await probe("/healthz")).toEqual([503, "lease failed"]);
    release();
    await clock.step(1_000);
    expect(await probe("/healthz")).toEqual([200, "lease ok"]);
    await world.end();
  });

  it("end an operator whose port is in use, before its first request", async () => {
    const other = new HealthServer({ port, host });
    const stop = new AbortController();
    const serving = other.run(stop.signal);
    await other.ready();
    const { transport } = world.api;
    const options = {
      name: "a",
      transport,
      leaderElection: false,
      clock,
      logger: silentLogger,
    } as const;
    const setup = () => () => [];
    await expect(runOperator({ ...options, setup, health: { port, host } })).rejects.toThrow(
      '"health"',
    );
    expect(world.api.requests).toEqual([]);
    stop.abort();
    await serving;
  });
});
