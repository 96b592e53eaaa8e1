import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  isLeadershipLostError,
  LeaderElector,
  type Leadership,
  MemoryLock,
  silentLogger,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { JumpingClock } from "../../../../test/jumping-clock.ts";

/** Leads with a controller until the work has ended. */
async function standingStill(
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
      const { signal, lost } = leadership;
      const controller = new Controller({
        name: "orders",
        clock,
        logger: silentLogger,
        reconcile: ({ key }) => void runs.push(key),
      });
      const running = controller.run(signal, { lost });
      await use({ leadership, controller, clock, runs });
      stop.abort();
      await running;
    },
  });
  await base.run(() => elector.run(stop.signal));
}

describe.each([
  ["process stood still", "standStill"],
  ["machine was suspended, with its monotonic clock", "suspend"],
] as const)("a leader whose %s beyond its lease", (_name, passTime) => {
  it("begins no reconcile, although no timer of the term has fired", () =>
    standingStill(async ({ leadership, controller, clock, runs }) => {
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
    standingStill(async ({ controller, clock, runs }) => {
      clock[passTime](9_999);
      controller.add("a");
      for (let microtasks = 0; microtasks < 50; microtasks++) await undefined;
      expect(runs).toEqual(["a"]);
    }));

  it("hears so from isHeld, after lost has aborted", () =>
    standingStill(async ({ leadership, clock }) => {
      expect([leadership.isHeld, leadership.lost.aborted]).toEqual([true, false]);
      clock[passTime](10_000);
      expect([leadership.isHeld, leadership.lost.aborted]).toEqual([false, true]);
    }));
});
