import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  type ControllerOptions,
  fromCallback,
  LeaderElector,
  Manager,
  MemoryLock,
  Shards,
  type Source,
  silentLogger,
  slotOf,
} from "@holdfast/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

let clock: FakeClock;
let start: number;
let seen: string[];
let stop: AbortController;

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  seen = [];
  stop = new AbortController();
});

const note = (text: string) => seen.push(`${clock.monotonic() - start} ${text}`);

function controllerOf(options: Partial<ControllerOptions> = {}): Controller {
  return new Controller({
    name: "keys",
    reconcile: ({ key, reason }) => void note(`${reason}: ${key}`),
    onError: (error, { kind }) => void note(`${kind} failed: ${(error as Error).message}`),
    clock,
    random: () => 0,
    logger: silentLogger,
    ...options,
  });
}

/** Reports `NAME-0`, a second later `NAME-1`, and so on. Ready after `ready` milliseconds. */
function counting(name: string, ready?: number): Source {
  const source: Source = {
    name,
    async start({ enqueue }, signal) {
      for (let count = 0; ; count++) {
        enqueue(`${name}-${count}`);
        await clock.sleep(1_000, { signal });
      }
    },
  };
  return ready === undefined
    ? source
    : { ...source, ready: (signal) => clock.sleep(ready, { signal }) };
}

const sourcesOf = (controller: Controller) =>
  controller.status().sources.map(({ name, state }) => `${name} ${state}`);

/** Nothing is left after the end. */
function expectNothingLeft(...signals: readonly AbortSignal[]): void {
  expect([clock.pending(), [stop.signal, ...signals].map(abortListeners)]).toEqual([
    [],
    [stop, ...signals].map(() => 0),
  ]);
}

describe("a source that is added", () => {
  it("before the run begins with it, and while it runs at once", async () => {
    const controller = controllerOf({ sources: [counting("a")] });
    controller.addSource(counting("b"));
    const running = controller.run(stop.signal);
    await clock.step(500);
    controller.addSource(counting("c"));
    await clock.step(500);
    expect(seen).toEqual(["0 a: a-0", "0 b: b-0", "500 c: c-0", "1000 a: a-1", "1000 b: b-1"]);
    expect(sourcesOf(controller)).toEqual(["a running", "b running", "c running"]);
    stop.abort();
    await running;
    expectNothingLeft();
    controller.addSource(counting("d"));
    expect(sourcesOf(controller)).toEqual(["a ended", "b ended", "c ended"]);
  });

  it("starts when its own data is ready, and holds up none of a controller that runs", async () => {
    let failures = 1;
    const a = counting("a");
    const failing: Source = {
      name: "a",
      start(context, signal) {
        if (failures-- > 0) throw new Error("no connection");
        return a.start(context, signal);
      },
    };
    const controller = controllerOf({ sources: [failing] });
    const running = controller.run(stop.signal);
    await clock.step(500);
    controller.addSource(counting("late", 2_000));
    await clock.step(2_000);
    expect(seen).toEqual([
      "0 source failed: no connection",
      "1000 a: a-0",
      "2000 a: a-1",
      "2500 late: late-0",
    ]);
    stop.abort();
    await running;
    expectNothingLeft();
  });

  it("before a controller has begun holds it up until it is ready", async () => {
    const controller = controllerOf({ sources: [counting("a", 1_000)] });
    const running = controller.run(stop.signal);
    controller.addSource(counting("b", 2_000));
    await clock.step(2_000);
    expect(seen).toEqual(["2000 a: a-0", "2000 b: b-0"]);
    stop.abort();
    await running;
    expectNothingLeft();
  });

  it("is restarted, and its failures are reported", async () => {
    const controller = controllerOf();
    const running = controller.run(stop.signal);
    let starts = 0;
    controller.addSource({
      name: "b",
      start: ({ enqueue, failed }) => {
        if (++starts === 1) throw new Error("refused");
        failed(new Error("one line is broken"));
        enqueue("b-0");
      },
    });
    await clock.step(1_000);
    expect(seen).toEqual([
      "0 source failed: refused",
      "1000 source failed: one line is broken",
      "1000 b: b-0",
    ]);
    expect(controller.status().sources).toMatchObject([
      { name: "b", restarts: 1, lastError: { message: "one line is broken" } },
    ]);
    stop.abort();
    await running;
    expectNothingLeft();
  });
});

describe("the signal of an added source", () => {
  it("ends and removes it at once; its queued keys stay", async () => {
    const tenant = new AbortController();
    const controller = controllerOf({ sources: [counting("a")] });
    const running = controller.run(stop.signal);
    controller.addSource(counting("b"), tenant.signal);
    controller.pause();
    await clock.step(500);
    tenant.abort(new Error("the tenant is gone"));
    await clock.step(0);
    expect(sourcesOf(controller)).toEqual(["a running"]);
    expect(abortListeners(tenant.signal)).toBe(0);
    controller.resume();
    await clock.step(600);
    expect(seen).toEqual(["500 a: a-0", "500 b: b-0", "1000 a: a-1"]);
    stop.abort();
    await running;
    expectNothingLeft(tenant.signal);
    expect(controller.status().drain).toMatchObject({ finished: true });
  });

  it("lets a controller begin that waited for it alone", async () => {
    const tenant = new AbortController();
    const controller = controllerOf({ sources: [counting("a")] });
    controller.addSource(counting("never", 1_000_000), tenant.signal);
    const running = controller.run(stop.signal);
    await clock.step(5_000);
    expect(seen).toEqual([]);
    tenant.abort();
    await clock.step(0);
    expect(seen).toEqual(["5000 a: a-0"]);
    stop.abort();
    await running;
    expectNothingLeft(tenant.signal);
  });

  it("that has aborted already, before or after the source was added, starts nothing", async () => {
    const tenant = new AbortController();
    const controller = controllerOf();
    controller.addSource(counting("b"), tenant.signal);
    tenant.abort();
    const running = controller.run(stop.signal);
    controller.addSource(counting("c"), tenant.signal);
    await clock.step(1_000);
    expect([seen, sourcesOf(controller)]).toEqual([[], []]);
    stop.abort();
    await running;
    expectNothingLeft(tenant.signal);
  });

  it("does not hide a source that ignores it", async () => {
    const tenant = new AbortController();
    const controller = controllerOf({ grace: 2_000, abortGrace: 1_000 });
    const running = controller.run(stop.signal);
    const hanging: Source = { name: "b", start: () => new Promise(() => {}) };
    controller.addSource(hanging, tenant.signal);
    await clock.step(0);
    tenant.abort();
    await clock.step(0);
    expect(sourcesOf(controller)).toEqual(["b stopping"]);
    stop.abort();
    await clock.run(() => running);
    expect(clock.monotonic() - start).toBe(3_000);
  });
});

describe("a controller with an added source", () => {
  it("works on the keys of its slots alone, and has those of a new slot told again", async () => {
    const keys = Array.from({ length: 8 }, (_, index) => `key-${index}`);
    const own = new Map<string, MemoryLock>();
    const lockOf = (name: string): MemoryLock => {
      const lock = own.get(name) ?? new MemoryLock();
      own.set(name, lock);
      return lock;
    };
    const begin = (identity: string) => {
      const common = { clock, logger: silentLogger, random: () => 0 };
      const shards = new Shards({ count: 2, identity, lockOf, ...common });
      const reconciled: string[] = [];
      const controller = controllerOf({ reconcile: ({ key }) => void reconciled.push(key) });
      const end = new AbortController();
      const ended = Promise.all([shards.run(end.signal), controller.run(end.signal, { shards })]);
      controller.addSource(
        fromCallback("all", (enqueue) => {
          for (const key of keys) enqueue(key);
          return () => {};
        }),
      );
      return { shards, reconciled, end, ended };
    };
    const a = begin("a");
    await clock.step(1_000);
    expect(a.reconciled.splice(0).sort()).toEqual(keys);
    const b = begin("b");
    await clock.step(30_000);
    const [slot] = b.shards.status().held;
    const given = keys.filter((key) => slotOf(key, 2) === slot);
    expect([b.shards.status().held.length, b.reconciled.sort()]).toEqual([1, given]);
    a.reconciled.splice(0);
    b.end.abort();
    await b.ended;
    await clock.step(10_000);
    expect(a.reconciled.sort()).toEqual(given);
    a.end.abort();
    await a.ended;
    expect(clock.pending()).toEqual([]);
  });

  it("leads in a Manager, and stops with the leadership", async () => {
    const lock = new MemoryLock();
    const elector = new LeaderElector({
      lock,
      identity: "a",
      clock,
      logger: silentLogger,
      random: () => 0,
      lead: async (leadership) => {
        const controller = controllerOf();
        controller.addSource(counting("before"));
        const running = controller.run(leadership);
        await clock.sleep(500);
        controller.addSource(counting("later"));
        await running;
      },
    });
    const manager = new Manager({ clock, logger: silentLogger });
    manager.add(elector);
    const running = manager.run(stop.signal);
    await clock.step(1_200);
    stop.abort();
    await clock.run(() => running);
    expect(seen).toEqual(["0 before: before-0", "500 later: later-0", "1000 before: before-1"]);
    expectNothingLeft();
  });
});
