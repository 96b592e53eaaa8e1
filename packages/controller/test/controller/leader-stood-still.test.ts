import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  isLeadershipLostError,
  LeaderElector,
  type Leadership,
  Manager,
  MemoryLock,
  silentLogger,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { JumpingClock } from "../../../../test/jumping-clock.ts";

/** The doors by which a controller gets its leadership. */
const DOORS: Readonly<Record<string, (to: Controller, leadership: Leadership) => Promise<void>>> = {
  "run(leadership)": (controller, leadership) => controller.run(leadership),
  "run(signal, { leadership })": (controller, leadership) =>
    controller.run(leadership.signal, { leadership }),
  "Manager.run(leadership)": (controller, leadership) => {
    const manager = new Manager({ logger: silentLogger });
    manager.add(controller);
    return manager.run(leadership);
  },
  "a leadership with a derived signal": (controller, leadership) =>
    controller.run({
      token: leadership.token,
      signal: AbortSignal.any([leadership.signal]),
      lost: AbortSignal.any([leadership.lost]),
      get isHeld() {
        return leadership.isHeld;
      },
    }),
  "a leadership made by hand, whose lost never aborts": (controller, leadership) =>
    controller.run({
      token: 0,
      signal: leadership.signal,
      lost: new AbortController().signal,
      get isHeld() {
        return leadership.isHeld;
      },
    }),
};

/** Leads with a controller until the work has ended. */
async function standingStill(
  run: (to: Controller, leadership: Leadership) => Promise<void>,
  use: (world: {
    readonly leadership: Leadership;
    readonly controller: Controller;
    readonly clock: JumpingClock;
    readonly runs: string[];
  }) => Promise<void>,
): Promise<void> {
  const base = new FakeClock();
  const clock = new JumpingClock(base);
  const stop = new AbortController();
  const runs: string[] = [];
  const elector = new LeaderElector({
    lock: new MemoryLock(),
    identity: "a",
    clock,
    logger: silentLogger,
    lead: async (leadership) => {
      const controller = new Controller({
        name: "orders",
        clock,
        logger: silentLogger,
        reconcile: ({ key }) => void runs.push(key),
      });
      const running = run(controller, leadership);
      await use({ leadership, controller, clock, runs });
      stop.abort();
      await running;
    },
  });
  await base.run(() => elector.run(stop.signal));
}

const PASSES = [
  ["process stood still", "standStill"],
  ["machine was suspended, with its monotonic clock", "suspend"],
] as const;
const CASES = PASSES.flatMap(([what, passTime]) =>
  Object.entries(DOORS).map(([door, run]) => ({ what, passTime, door, run })),
);

describe.each(CASES)("$door of a leader whose $what beyond its lease", ({ passTime, run }) => {
  it("begins no reconcile, although no timer of the term has fired", () =>
    standingStill(run, async ({ leadership, controller, clock, runs }) => {
      controller.add("before");
      for (let microtasks = 0; microtasks < 50; microtasks++) await undefined;
      expect(runs).toEqual(["before"]);
      clock[passTime](10_000); // the renew deadline
      controller.add("after");
      for (let microtasks = 0; microtasks < 50; microtasks++) await undefined;
      expect(runs).toEqual(["before"]);
      expect(isLeadershipLostError(leadership.lost.reason)).toBe(true);
    }));

  it("begins a reconcile up to the instant before", () =>
    standingStill(run, async ({ controller, clock, runs }) => {
      clock[passTime](9_999);
      controller.add("a");
      for (let microtasks = 0; microtasks < 50; microtasks++) await undefined;
      expect(runs).toEqual(["a"]);
    }));
});

it.each(PASSES)(
  "a leader whose %s hears so from isHeld, after lost has aborted",
  (_what, passTime) =>
    standingStill(DOORS["run(leadership)"] as never, async ({ leadership, clock }) => {
      expect([leadership.isHeld, leadership.lost.aborted]).toEqual([true, false]);
      clock[passTime](10_000);
      expect([leadership.isHeld, leadership.lost.aborted]).toEqual([false, true]);
    }),
);

it("a leadership whose isHeld throws counts as lost", () =>
  standingStill(
    (controller, { signal, lost }) => {
      let reads = 0;
      const isHeld = (): boolean => {
        if (reads++ > 0) throw new Error("unreadable");
        return true;
      };
      const leadership = { token: 0, signal, lost };
      return controller.run(Object.defineProperty(leadership, "isHeld", { get: isHeld }) as never);
    },
    async ({ controller, runs }) => {
      controller.add("a");
      for (let microtasks = 0; microtasks < 50; microtasks++) await undefined;
      expect([runs, controller.status().state]).toEqual([[], "stopped"]);
    },
  ));

it.each(["Controller", "Manager"] as const)(
  "%s refuses a second leadership, the same one too, beside that of the first argument",
  async (name) => {
    const clock = new FakeClock();
    const logger = silentLogger;
    const part = {
      Controller: () => new Controller({ name: "part", clock, logger, reconcile: () => undefined }),
      Manager: () => new Manager({ clock, logger }),
    }[name]();
    const stop = new AbortController();
    const { signal } = stop;
    const leadership = { token: 1, signal, lost: signal, isHeld: true };
    const run = part.run(leadership, { leadership });
    stop.abort(); // A run that was not refused ends too.
    await expect(run).rejects.toThrow(
      new RangeError("options.leadership must be undefined in a run under a leadership"),
    );
    expect(clock.waiters()).toBe(0);
  },
);
