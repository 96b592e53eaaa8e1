import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  type ControllerOptions,
  LeaderElector,
  Manager,
  MemoryLock,
  type Runnable,
  Shards,
  silentLogger,
} from "@holdfast/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { hang, RecordingLock, refuse } from "../election/recording-lock.ts";
import { overlapsIn, type WorkEvent } from "../election/work-log.ts";

const logger = silentLogger;
const reason = new Error("SIGTERM");

let clock: FakeClock;
let start: number;
let shared: MemoryLock;
let log: (WorkEvent & { readonly at: number })[];

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  shared = new MemoryLock();
  log = [];
});

const now = () => clock.monotonic() - start;

/** An elector with default times; its work is a controller with six keys, one after another. */
function replica(
  worker: string,
  lock: RecordingLock,
  options: Partial<ControllerOptions> = {},
  duration = 3_000,
): LeaderElector {
  return new LeaderElector({
    lock,
    identity: worker,
    clock,
    logger,
    random: () => 0,
    lead: async (leadership) => {
      const controller = new Controller({
        name: worker,
        clock,
        logger,
        grace: 20_000,
        reconcile: async ({ key, signal: told }) => {
          log.push({ at: now(), worker, event: "begin", key });
          await clock.sleep(duration, { signal: told }).finally(() => {
            log.push({ at: now(), worker, event: "end", key });
          });
        },
        ...options,
      });
      for (const key of ["1", "2", "3", "4", "5", "6"]) controller.add(key);
      await controller.run(leadership);
    },
  });
}

describe("two replicas with an elector and a controller", () => {
  it("never work at the same time during a drain of 18 s on a lease of 15 s", async () => {
    const [stopA, stopB] = [new AbortController(), new AbortController()];
    const runA = replica("a", new RecordingLock(shared), {}, 18_000).run(stopA.signal);
    await clock.step(500);
    const runB = replica("b", new RecordingLock(shared)).run(stopB.signal);
    stopA.abort(reason);
    await clock.step(20_000);
    await runA;
    expect(log.filter(({ worker }) => worker === "a")).toEqual([
      { at: 0, worker: "a", event: "begin", key: "1" },
      { at: 18_000, worker: "a", event: "end", key: "1" },
    ]);
    expect(log.find(({ worker }) => worker === "b")?.at).toBe(18_500);
    expect(overlapsIn(log)).toEqual([]);
    stopB.abort(reason);
    await clock.step(30_000);
    await runB;
    expect([clock.waiters(), abortListeners(stopA.signal)]).toEqual([0, 0]);
  });

  it.each([
    ["refuses", refuse],
    ["hangs", hang],
  ])("never work at the same time while the lock of the draining one %s", async (_, fault) => {
    const [stopA, stopB] = [new AbortController(), new AbortController()];
    const lock = new RecordingLock(shared);
    const runA = replica("a", lock, {}, 18_000).run(stopA.signal);
    await clock.step(1_000);
    const runB = replica("b", new RecordingLock(shared)).run(stopB.signal);
    stopA.abort(reason);
    lock.failAll(fault);
    await clock.step(20_000);
    await runA;
    // The last renewal was at 0 s: a drops its key at 10 s, b saw it at 1 s, looks every 2 s, and
    // leads from 17 s.
    expect(log.slice(0, 4)).toEqual([
      { at: 0, worker: "a", event: "begin", key: "1" },
      { at: 10_000, worker: "a", event: "end", key: "1" },
      { at: 17_000, worker: "b", event: "begin", key: "1" },
      { at: 20_000, worker: "b", event: "end", key: "1" },
    ]);
    expect(overlapsIn(log)).toEqual([]);
    stopB.abort(reason);
    await clock.step(30_000);
    await runB;
    expect([clock.waiters(), abortListeners(stopA.signal)]).toEqual([0, 0]);
  });
});

describe("a manager of a replica whose reconcile hangs, with all defaults", () => {
  const hanging: Runnable = { name: "server", run: () => new Promise(() => {}) };

  it.each<{ name: string; away: number; servers: Runnable[]; ends: number }>([
    // The lock fails when it is time to release: the longest of all.
    { name: "and whose lock hangs at the release", away: 19_999, servers: [], ends: 23_000 },
    { name: "and whose lock hangs from the start", away: 0, servers: [], ends: 15_000 },
    { name: "with a hanging server besides", away: 19_999, servers: [hanging], ends: 28_000 },
  ])("stops within 30 s, $name", async ({ away, servers, ends }) => {
    const lock = new RecordingLock(shared);
    const elector = replica("a", lock, {
      reconcile: () => new Promise(() => {}),
      grace: undefined,
    });
    const manager = new Manager({
      clock,
      logger,
      groups: [{ name: "servers" }, { name: "workers" }],
    });
    for (const server of servers) manager.add(server, { group: "servers" });
    manager.add(elector);
    const stop = new AbortController();
    let ended: number | undefined;
    const settle = (): void => {
      ended = now();
    };
    const run = manager.run(stop.signal).then(settle, settle);
    await clock.step(0);
    stop.abort(reason);
    await clock.step(away);
    lock.failAll(hang);
    await clock.step(30_000 - away);
    await run;
    expect(ended).toBe(ends);
  });
});

it("refuses a copy of the leadership, which would not see the end of the term", async () => {
  const lead = async (leadership: object): Promise<void> => {
    await new Controller({ name: "part", clock, logger, reconcile: () => undefined }).run(
      new AbortController().signal,
      { leadership: { ...leadership } as never },
    );
  };
  const stop = new AbortController();
  const elector = new LeaderElector({ lock: shared, identity: "a", clock, logger, lead });
  const shards = new Shards({
    ...{ identity: "a", count: 1, clock, logger, lead },
    lockOf: () => new MemoryLock(),
  });
  for (const part of [elector, shards]) {
    const error = await clock.run(() => part.run(stop.signal).catch((caught: unknown) => caught));
    expect(String(error)).toBe(
      "TypeError: options.leadership.isHeld must be true or false, got undefined",
    );
  }
});
