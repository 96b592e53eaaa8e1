import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, inject, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

// What they cost is a claim of the bench: `npm run bench -- --only b`.
const MANY = inject("isThorough") ? 100_000 : 20_000;

describe("sleeps on one signal", () => {
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
});
