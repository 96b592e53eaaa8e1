import { FakeClock } from "@holdfast/clock/testing";
import { Backoff, type BackoffStrategy } from "@holdfast/wait";
import { backoffManager } from "@holdfast/wait/loop";
import { beforeEach, expect, it } from "vitest";
import { nextDelay } from "../next-delay.ts";

let clock: FakeClock;

beforeEach(() => {
  clock = new FakeClock();
});

/** A custom strategy: these delays, then the last one forever. */
function listed(...delays: readonly number[]): BackoffStrategy {
  return {
    delayFunc() {
      let index = 0;
      return () => delays[Math.min(index++, delays.length - 1)] as number;
    },
  };
}

const nextDelays = (count: number, strategy: BackoffStrategy) => {
  const manager = backoffManager(strategy, { clock });
  return Array.from({ length: count }, () => nextDelay(manager, clock));
};

it("uses the delays of any strategy, one after another", () => {
  expect(nextDelays(4, listed(5, 3, 0.25))).toEqual([5, 3, 0.25, 0.25]);
});

it("never starts over", () => {
  const manager = backoffManager(new Backoff({ duration: 1, factor: 10 }), { clock });
  const seen = [0, 1e9, 1e9].map((pause) => {
    clock.stepSync(pause);
    return nextDelay(manager, clock);
  });
  expect(seen).toEqual([1, 10, 100]);
});

it("starts its own sequence, so that a strategy can serve several managers", () => {
  const backoff = new Backoff({ duration: 1, factor: 10 });
  expect(nextDelays(3, backoff)).toEqual([1, 10, 100]);
  expect(nextDelays(3, backoff)).toEqual([1, 10, 100]);
  expect(backoff.duration).toBe(1);
});

it("calls delayFunc as a method of the strategy", () => {
  class Doubling implements BackoffStrategy {
    readonly #first = 3;
    delayFunc() {
      let delay = this.#first / 2;
      return () => {
        delay *= 2;
        return delay;
      };
    }
  }
  expect(nextDelays(3, new Doubling())).toEqual([3, 6, 12]);
});

it("arms one labelled timer repeatedly", async () => {
  const manager = backoffManager(listed(100, 50), { clock });
  expect(clock.waiters()).toBe(0);
  const timer = manager.backoff();
  expect(clock.pending()).toEqual([
    { label: "backoff", deadline: clock.monotonic() + 100, ref: true },
  ]);
  expect(manager.backoff()).toBe(timer);
  expect(clock.waiters()).toBe(1);
  await clock.step(50);
  expect(timer.active).toBe(false);
});

it.each([
  { delay: -1, meaning: 0 },
  { delay: 0, meaning: 0 },
  { delay: 0.4, meaning: 0.4 },
  { delay: 2 ** 31, meaning: 2 ** 31 },
  { delay: 1e12, meaning: 1e12 },
  { delay: Number.POSITIVE_INFINITY, meaning: Number.POSITIVE_INFINITY },
])("arms for $meaning when a strategy says $delay", ({ delay, meaning }) => {
  expect(nextDelays(1, listed(delay))).toEqual([meaning]);
});

it("returns a timer that rejects with the error when the strategy throws", async () => {
  const spent = new Error("spent");
  const strategy: BackoffStrategy = {
    delayFunc: () => () => {
      throw spent;
    },
  };
  const timer = backoffManager(strategy, { clock }).backoff();
  await expect(timer.fired).rejects.toBe(spent);
  await expect(timer.fired).rejects.toBe(spent);
  expect([timer.active, timer.deadline]).toEqual([false, Number.POSITIVE_INFINITY]);
  expect([timer.stop(), timer.reset(5)]).toEqual([false, false]);
  timer[Symbol.dispose]();
  expect(clock.waiters()).toBe(0);
});

it("throws for a delay of NaN, and leaves the timer unchanged", () => {
  const manager = backoffManager(listed(100, Number.NaN), { clock });
  const timer = manager.backoff();
  const message = "delay must be a number of milliseconds, got NaN";
  expect(() => manager.backoff()).toThrow(new RangeError(message));
  expect([timer.active, timer.deadline - clock.monotonic()]).toEqual([true, 100]);
});
