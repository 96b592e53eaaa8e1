import { FakeClock } from "@holdfast/clock/testing";
import { exponentialBackoff } from "@holdfast/wait/go";
import fc from "fast-check";
import { expect, it } from "vitest";

const shape = fc.record({
  duration: fc.nat(1000),
  factor: fc.double({ min: 0.1, max: 10, noNaN: true }),
  cap: fc.double({ min: 0.1, max: 1e6, noNaN: true }),
  steps: fc.nat(20),
});

type Shape = typeof shape extends fc.Arbitrary<infer Value> ? Value : never;

/** A second implementation of the docstring: number of calls and end of the wait, in nanoseconds. */
function promised({ duration, factor, cap, steps }: Shape): { calls: number; endedAt: number } {
  let base = duration * 1e6;
  let endedAt = 0;
  for (let calls = 1; calls <= steps; calls++) {
    if (calls === steps) return { calls, endedAt };
    endedAt += base;
    base = Math.floor(base * factor);
    if (base > Math.round(cap * 1e6)) return { calls, endedAt };
  }
  return { calls: 0, endedAt };
}

it("makes the calls and ends at the instant that its options determine", async () => {
  await fc.assert(
    fc.asyncProperty(shape, async (backoff) => {
      const clock = new FakeClock();
      const start = clock.monotonic();
      let calls = 0;
      const never = () => ++calls < 0;
      const wait = () => exponentialBackoff(never, { backoff, clock });
      const error = await clock.run(wait, { turns: 0 }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "ERR_WAIT_EXHAUSTED", attempts: calls });
      const endedAt = Math.round((clock.monotonic() - start) * 1e6);
      expect({ calls, endedAt }).toEqual(promised(backoff));
      expect(clock.waiters()).toBe(0);
    }),
  );
});
