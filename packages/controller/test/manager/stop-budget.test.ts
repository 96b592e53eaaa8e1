import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  LeaderElector,
  Manager,
  type ManagerOptions,
  MemoryLock,
  type Runnable,
  silentLogger,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";

const NEVER = Number.POSITIVE_INFINITY;

/** A controller with a key in flight that ends `after` milliseconds after it began, whatever its signal says. */
function busy(name: string, clock: FakeClock, after = NEVER, options: object = {}): Controller {
  const reconcile = () => clock.sleep(after);
  const controller = new Controller({ name, clock, logger: silentLogger, reconcile, ...options });
  controller.add("key");
  return controller;
}

function leading(name: string, clock: FakeClock): Runnable {
  return new LeaderElector({
    ...{ name, clock, identity: name, lock: new MemoryLock(), logger: silentLogger },
    lead: (leadership) => busy(`${name}'s work`, clock).run(leadership),
  });
}

function nested(name: string, clock: FakeClock): Runnable {
  const inner = new Manager({
    ...{ clock, logger: silentLogger },
    groups: [{ name: "a" }, { name: "b" }],
  });
  inner.add(busy(`${name} a`, clock), { group: "a" });
  inner.add(busy(`${name} b`, clock), { group: "b" });
  return { name, run: (signal, options) => inner.run(signal, options) };
}

const stuck = (name: string, stopTimeout?: number): Runnable => ({
  name,
  ...(stopTimeout === undefined ? {} : { stopTimeout }),
  run: () => new Promise(() => {}),
});

/** How long a manager takes to stop its groups, and the error of its run. */
async function stopOf(
  parts: (clock: FakeClock) => readonly Runnable[],
  options: (names: string[]) => ManagerOptions = (names) => ({
    groups: names.map((name) => ({ name })),
  }),
): Promise<{ readonly took: number; readonly problems: readonly string[] }> {
  const clock = new FakeClock();
  const runnables = parts(clock);
  const names = runnables.map(({ name }) => name);
  const { groups, ...rest } = options(names);
  const manager = new Manager({ clock, logger: silentLogger, groups, ...rest });
  for (const part of runnables) manager.add(part, groups === undefined ? {} : { group: part.name });
  const stop = new AbortController();
  let took = NEVER;
  const error = errorOf(manager.run(stop.signal)).then((reason) => {
    took = clock.monotonic() - stoppedAt;
    return reason;
  });
  await clock.step(1_000);
  const stoppedAt = clock.monotonic();
  stop.abort();
  await clock.step(200_000);
  const reason = took === NEVER ? undefined : await error;
  const problems =
    reason instanceof AggregateError ? reason.errors.map(({ message }) => message) : [];
  return { took, problems };
}

const inOneGroup = (): ManagerOptions => ({});

describe("a manager stops within its stopTimeout of 28 s", () => {
  it.each<[string, (clock: FakeClock) => readonly Runnable[], (() => ManagerOptions)?]>([
    ["a stuck controller", (clock) => [busy("a", clock)]],
    ["two stuck controllers", (clock) => [busy("a", clock), busy("b", clock)]],
    ["three stuck controllers", (clock) => ["a", "b", "c"].map((name) => busy(name, clock))],
    ["ten stuck controllers", (clock) => [..."abcdefghij"].map((name) => busy(name, clock))],
    ["three in one group", (clock) => ["a", "b", "c"].map((name) => busy(name, clock)), inOneGroup],
    [
      "controllers without an end to their grace",
      (clock) => ["a", "b"].map((name) => busy(name, clock, NEVER, { grace: NEVER })),
    ],
    [
      "controllers without an end to their abortGrace",
      (clock) => ["a", "b"].map((name) => busy(name, clock, NEVER, { abortGrace: NEVER })),
    ],
    ["a controller beside an elector", (clock) => [leading("a", clock), busy("b", clock)]],
    ["a controller before an elector", (clock) => [busy("a", clock), leading("b", clock)]],
    ["two managers within the manager", (clock) => [nested("a", clock), nested("b", clock)]],
    ["parts that ask for an hour", () => [stuck("a", 3_600_000), stuck("b", 3_600_000)]],
    ["parts that ask for all", () => [stuck("a", NEVER), stuck("b"), stuck("c", NEVER)]],
  ])("%s", async (_, parts, options) => {
    const { took } = await stopOf(parts, options);
    expect(took).toBeLessThanOrEqual(28_000);
  });

  it("names the parts that did not stop, with the time that they had", async () => {
    const { took, problems } = await stopOf(() => [stuck("a", 20_000), stuck("b", 20_000)]);
    expect(took).toBe(28_000);
    expect(problems).toEqual([
      '"b" not stopped within 14000 ms',
      '"a" not stopped within 14000 ms',
    ]);
  });

  it("gives controllers less time than they ask for, and they end in order", async () => {
    const two = await stopOf((clock) => [busy("a", clock), busy("b", clock)]);
    // 14 s, less 1 s of slack, then the rest of 15 s, less 1 s.
    expect(two).toEqual({ took: 13_000 + 14_000, problems: [] });
  });

  it("aborts a key whose grace is shorter than that of its controller", async () => {
    const clock = new FakeClock();
    const aborts: number[] = [];
    let stoppedAt = 0;
    const controllers = ["a", "b"].map((name) => {
      const controller = new Controller({
        ...{ name, clock, logger: silentLogger },
        reconcile: async ({ signal }) => {
          await clock.sleep(NEVER, { signal }).catch(() => {});
          aborts.push(clock.monotonic() - stoppedAt);
        },
      });
      controller.add("key");
      return controller;
    });
    const groups = [{ name: "a" }, { name: "b" }];
    const manager = new Manager({ clock, groups, logger: silentLogger });
    for (const controller of controllers) manager.add(controller, { group: controller.name });
    const stop = new AbortController();
    const run = manager.run(stop.signal);
    await clock.step(0);
    stoppedAt = clock.monotonic();
    stop.abort();
    await clock.step(60_000);
    expect(manager.status().state).toBe("stopped");
    await run;
    // 14 s, less 1 s of slack, of which a quarter is left after the abort; then 18.25 s in the same way.
    expect(aborts).toEqual([13_000 * 0.75, 9_750 + 17_250 * 0.75]);
  });

  it("leaves parts all the time they ask for, if it fits", async () => {
    const { took, problems } = await stopOf(
      (clock) => [busy("a", clock, 16_000), busy("b", clock, 16_000)],
      (names) => ({ stopTimeout: 42_000, groups: names.map((name) => ({ name })) }),
    );
    expect([took, problems]).toEqual([15_000, []]);
  });

  it("tells a runnable the time it has, and none before the stop", async () => {
    const clock = new FakeClock();
    const told: number[] = [];
    const telling: Runnable = {
      name: "telling",
      async run(signal, { stopWithin } = {}) {
        told.push(stopWithin?.() ?? Number.NaN);
        await clock.sleep(NEVER, { signal }).catch(() => {});
        told.push(stopWithin?.() ?? Number.NaN);
        await clock.sleep(3_000);
        told.push(stopWithin?.() ?? Number.NaN);
      },
    };
    const groups = [{ name: "main", stopTimeout: 5_000 }];
    const manager = new Manager({ clock, groups, logger: silentLogger });
    manager.add(telling);
    const stop = new AbortController();
    const run = manager.run(stop.signal);
    await clock.step(1);
    stop.abort();
    await clock.step(5_000);
    await run;
    expect(told).toEqual([NEVER, 4_500, 1_500]);
  });
});

const BAD_TIMES: [string, () => number][] = [
  [
    "throws",
    () => {
      throw new Error("odd");
    },
  ],
  ["returns NaN", () => Number.NaN],
  ["returns less than 0", () => -1],
];

describe.each(BAD_TIMES)("a time to stop that %s", (_, time) => {
  it("leaves a manager its stopTimeout, and each group its stop", async () => {
    const clock = new FakeClock();
    const groups = [{ name: "a" }, { name: "b" }];
    const manager = new Manager({ clock, groups, logger: silentLogger });
    for (const { name } of groups) manager.add(busy(name, clock), { group: name });
    const stop = new AbortController();
    const run = manager.run(stop.signal, { stopWithin: time });
    await clock.step(0);
    stop.abort();
    await clock.step(26_999);
    expect(manager.status().state).toBe("stopping");
    await clock.step(1);
    expect(manager.status().state).toBe("stopped");
    await run;
  });

  it("is refused for a runnable, and one that becomes so leaves the others their stop", async () => {
    const clock = new FakeClock();
    const manager = new Manager({
      ...{ clock, logger: silentLogger },
      groups: [{ name: "a" }, { name: "b" }, { name: "c" }],
    });
    let stopTimeout = time;
    const part: Runnable = {
      ...{ name: "odd", run: (signal) => clock.sleep(NEVER, { signal }) },
      get stopTimeout() {
        return stopTimeout();
      },
    };
    expect(() => manager.add(part)).toThrow(/odd|runnable\.stopTimeout must be/);
    stopTimeout = () => 1;
    manager.add(part, { group: "b" });
    for (const name of ["a", "c"]) manager.add(busy(name, clock), { group: name });
    stopTimeout = time;
    const stop = new AbortController();
    const run = manager.run(stop.signal);
    await clock.step(0);
    stop.abort();
    await clock.step(28_000);
    expect(manager.status().state).toBe("stopped");
    await run;
  });
});

it("groups with times of their own end within the time that a manager has", async () => {
  const clock = new FakeClock();
  const groups = ["a", "b"].map((name) => ({ name, stopTimeout: 14_000 }));
  const manager = new Manager({ clock, groups, logger: silentLogger });
  for (const { name } of groups) manager.add(stuck(name), { group: name });
  const stop = new AbortController();
  const run = errorOf(manager.run(stop.signal, { stopWithin: () => 5_000 }));
  await clock.step(0);
  stop.abort();
  await clock.step(5_000);
  expect(manager.status().state).toBe("stopped");
  expect(String(await run)).toBe(
    'AggregateError: "b" not stopped within 2500 ms; "a" not stopped within 2500 ms',
  );
});

it.each(BAD_TIMES)(
  "a controller whose stopWithin %s takes its own times",
  async (_, stopWithin) => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const run = busy("a", clock).run(stop.signal, { stopWithin });
    await clock.step(0);
    stop.abort();
    await clock.step(19_999);
    let hasEnded = false;
    void run.then(() => (hasEnded = true));
    await clock.step(0);
    expect(hasEnded).toBe(false);
    await clock.step(1);
    await run;
  },
);
