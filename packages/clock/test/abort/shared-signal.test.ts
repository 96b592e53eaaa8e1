import { setMaxListeners } from "node:events";
import { setTimeout as nodeSleep } from "node:timers/promises";
import { type Clock, realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, inject, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { costRatio, growth } from "../cost.ts";

const isThorough = inject("isThorough");
const MANY = isThorough ? 100_000 : 20_000;
const SIZE = isThorough ? 40_000 : 10_000;
const HOUR = 3_600_000;

/** Starts n sleeps on one signal and aborts them all. */
function sleepAndAbort(clock: Clock): (n: number) => void {
  return (n) => {
    const stop = new AbortController();
    for (let index = 0; index < n; index++)
      clock.sleep(HOUR, { signal: stop.signal }).catch(() => {});
    expect(abortListeners(stop.signal)).toBe(1);
    stop.abort();
  };
}

// The timeout is for machines that are busy with other work.
describe("sleeps on one signal", { timeout: 60_000 }, () => {
  it.each([
    { name: "FakeClock", clock: new FakeClock() },
    { name: "realClock", clock: realClock },
  ])(
    `hold one listener, print no warning and reject in order, ${MANY} of them: $name`,
    async ({ clock }) => {
      const warnings: unknown[] = [];
      const onWarning = (warning: unknown) => warnings.push(warning);
      process.on("warning", onWarning);
      const stop = new AbortController();
      const order: number[] = [];
      for (let index = 0; index < MANY; index++)
        clock.sleep(60_000, { signal: stop.signal }).catch(() => order.push(index));
      expect(abortListeners(stop.signal)).toBe(1);

      stop.abort();
      await new Promise((resolve) => setImmediate(resolve));
      process.off("warning", onWarning);
      expect(abortListeners(stop.signal)).toBe(0);
      expect(order).toHaveLength(MANY);
      expect(order.every((value, index) => value === index)).toBe(true);
      expect(warnings).toEqual([]);
    },
  );

  it(`cost about twice as much when there are ${SIZE} instead of half of them: realClock`, () => {
    const limit = { factor: 2, limit: 3 }; // quadratic cost would be 4
    expect(growth(sleepAndAbort(realClock), SIZE / 2, limit)).toBeLessThan(3);
  });

  // A sleep of Node costs in proportion to the listeners already there: 1/30 at 40,000 is 4/30 at 10,000,
  // and a sixteenth of the time to measure. `npm run bench -- --only b` measures 40,000.
  it("cost less than 4/30 of node:timers/promises when there are 10,000: realClock", () => {
    const [count, limit] = [10_000, 4 / 30];
    const rival = (n: number): void => {
      const stop = new AbortController();
      setMaxListeners(0, stop.signal);
      for (let index = 0; index < n; index++)
        nodeSleep(HOUR, undefined, { signal: stop.signal }).catch(() => {});
      stop.abort();
    };
    const work = sleepAndAbort(realClock);
    work(count);
    expect(costRatio({ work, rival }, count, limit)).toBeLessThan(limit);
  });

  it("cost less than a third of as many listeners when they end at their deadlines: FakeClock", () => {
    const listen = (n: number): void => {
      const { signal } = new AbortController();
      setMaxListeners(0, signal);
      for (let index = 0; index < n; index++) signal.addEventListener("abort", () => {});
    };
    const work = (n: number): void => {
      const clock = new FakeClock();
      const { signal } = new AbortController();
      for (let index = 0; index < n; index++) void clock.sleep(index, { signal });
      clock.stepSync(n);
      expect([clock.waiters(), abortListeners(signal)]).toEqual([0, 0]);
    };
    expect(costRatio({ work, rival: listen }, 8_000, 1 / 3)).toBeLessThan(1 / 3);
  });
});
