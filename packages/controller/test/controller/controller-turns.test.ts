import { BaseClock, realClock, type Timer, type TimerOptions } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  type ControllerOptions,
  fromIterable,
  silentLogger,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

/** A running controller whose reconciler adds its own key forever. */
function busy(options: Partial<ControllerOptions> = {}) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const counts = { reconciles: 0 };
  const controller = new Controller({
    name: "busy",
    logger: silentLogger,
    clock,
    reconcile({ key }) {
      counts.reconciles++;
      controller.add(key);
    },
    ...options,
  });
  const running = controller.run(stop.signal);
  return { clock, stop, counts, controller, running };
}

/** As much as runs before a timer: on the fake clock microtasks alone. */
async function microtasks(): Promise<void> {
  for (let i = 0; i < 20_000; i++) await undefined;
}

describe("a reconciler that adds its own key forever", () => {
  it.each([1, 2])(
    "yields to a timer due now after 1,000 reconciles of %i workers",
    async (workers) => {
      const { clock, stop, counts, controller, running } = busy({ workers });
      controller.add("a");
      controller.add("b");
      await microtasks();
      // A worker that has begun finishes its key before it yields.
      const first = counts.reconciles;
      expect(first).toBeGreaterThanOrEqual(1_000);
      expect(first).toBeLessThan(1_000 + workers);
      expect(clock.pending().map(({ label }) => label)).toEqual(["turn"]);
      await microtasks();
      expect(counts.reconciles).toBe(first);
      clock.afterFunc(0, () => stop.abort());
      await clock.step(0);
      await running;
      expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
    },
  );

  it("yields also when it adds the key after its reconcile has settled", async () => {
    const { clock, stop, counts, controller, running } = busy({
      reconcile({ key }) {
        counts.reconciles++;
        queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => controller.add(key))));
      },
    });
    controller.add("a");
    await microtasks();
    expect(counts.reconciles).toBe(1_000);
    stop.abort();
    await clock.step(0);
    await running;
    expect(clock.waiters()).toBe(0);
  });
});

it("yields by count alone on a fake clock, however long the reconciles take", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const sleeps: (string | undefined)[] = [];
  const sleep = clock.sleep.bind(clock);
  clock.sleep = (delay, options) => {
    sleeps.push(options?.label);
    return sleep(delay, options);
  };
  const controller = new Controller({ name: "slow", clock, reconcile: () => sleep(1_000) });
  const running = controller.run(stop.signal);
  for (let i = 0; i < 1_100; i++) controller.add(`${i}`);
  await clock.step(999_999);
  expect(sleeps).toEqual([]);
  await clock.step(100_001);
  expect(sleeps).toEqual(["turn"]);
  stop.abort();
  await running;
  expect(clock.waiters()).toBe(0);
});

it("lets a host timer fire within a burst of reconciles that block on the real clock", async () => {
  const stop = new AbortController();
  let reconciles = 0;
  const controller = new Controller({
    name: "blocking",
    clock: realClock,
    reconcile({ key }) {
      reconciles++;
      const end = realClock.monotonic() + 4;
      while (realClock.monotonic() < end);
      if (reconciles < 200) controller.add(key);
    },
  });
  const running = controller.run(stop.signal);
  controller.add("a");
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  const seen = reconciles;
  stop.abort();
  await running;
  expect(seen).toBeLessThan(200);
});

/** A clock of one's own, on real time. */
class OwnClock extends BaseClock {
  override now(): number {
    return realClock.now();
  }
  override monotonic(): number {
    return realClock.monotonic();
  }
  override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
    return realClock.afterFunc(delay, fire, options);
  }
}

it("a timer fires on time beside 300 ms of work, on a clock of one's own around the real one", async () => {
  const clock = new OwnClock();
  const events: string[] = [];
  const stop = new AbortController();
  const controller = new Controller({
    name: "busy",
    clock,
    logger: silentLogger,
    workers: 1,
    reconcile({ key }) {
      const end = realClock.monotonic() + 3;
      while (realClock.monotonic() < end);
      events.push(key);
    },
  });
  const running = controller.run(stop.signal);
  for (let key = 0; key < 100; key++) controller.add(`${key}`);
  await new Promise<void>((resolve) => {
    clock.afterFunc(20, () => {
      events.push("timer");
      resolve();
    });
  });
  // Without a turn, the timer comes after all keys.
  expect(events.at(-1)).toBe("timer");
  expect(events.length).toBeLessThan(100);
  stop.abort();
  await controller[Symbol.asyncDispose]();
  await running;
});

describe("a source that never waits", () => {
  it("yields after 1,000 events on a fake clock", async () => {
    let events = 0;
    const source = fromIterable("endless", async function* () {
      for (;;) yield `${events++ % 10}`;
    });
    const { clock, stop, running } = busy({ sources: [source], reconcile: () => {} });
    await microtasks();
    expect(events).toBeGreaterThanOrEqual(1_000);
    expect(events).toBeLessThan(1_010);
    clock.afterFunc(0, () => stop.abort());
    await clock.step(0);
    await running;
    expect(clock.waiters()).toBe(0);
  });

  it("lets timers fire on the real clock", async () => {
    const stop = new AbortController();
    let events = 0;
    const source = fromIterable("endless", async function* () {
      for (;;) yield `${events++ % 10}`;
    });
    const controller = new Controller({ name: "endless", sources: [source], reconcile: () => {} });
    const running = controller.run(stop.signal);
    realClock.afterFunc(20, () => stop.abort());
    await running;
    expect(events).toBeGreaterThan(0);
  });
});
