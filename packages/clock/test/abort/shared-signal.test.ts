import { setMaxListeners } from "node:events";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, inject, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { costRatio } from "../cost-ratio.ts";

const MANY = inject("isThorough") ? 100_000 : 20_000;

// The timeout is for machines that are busy with something else.
describe("sleeps on one signal", { timeout: 30_000 }, () => {
  it.each([
    { name: "FakeClock", clock: new FakeClock() },
    { name: "realClock", clock: realClock },
  ])(
    `hold one listener, warn of nothing and reject in order, ${MANY} of them: $name`,
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

  // Not "twice as many cost twice as much": how memory is collected hides that between any two sizes.
  describe("cost less than a third of as many listeners", () => {
    const MANY_LISTENERS = 8_000;
    const THIRD = 1 / 3;

    function listen(n: number): void {
      const { signal } = new AbortController();
      setMaxListeners(0, signal);
      for (let index = 0; index < n; index++) signal.addEventListener("abort", () => {});
    }

    it("to begin and to abort", () => {
      const work = (n: number): void => {
        const clock = new FakeClock();
        const stop = new AbortController();
        for (let index = 0; index < n; index++)
          clock.sleep(1000, { signal: stop.signal }).catch(() => {});
        stop.abort();
        expect(clock.waiters()).toBe(0);
      };
      expect(costRatio({ work, rival: listen }, MANY_LISTENERS, THIRD)).toBeLessThan(THIRD);
    });

    it("to begin and to end", () => {
      const work = (n: number): void => {
        const clock = new FakeClock();
        const { signal } = new AbortController();
        for (let index = 0; index < n; index++) void clock.sleep(index, { signal });
        clock.stepSync(n);
        expect([clock.waiters(), abortListeners(signal)]).toEqual([0, 0]);
      };
      expect(costRatio({ work, rival: listen }, MANY_LISTENERS, THIRD)).toBeLessThan(THIRD);
    });
  });
});
