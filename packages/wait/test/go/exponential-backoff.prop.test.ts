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

/** What the docstring says, said once more: how often it asks, and when it ends, in nanoseconds. */
function promised({ duration, factor, cap, steps }: Shape): { asked: number; endedAt: number } {
  let base = duration * 1e6;
  let endedAt = 0;
  for (let asked = 1; asked <= steps; asked++) {
    if (asked === steps) return { asked, endedAt };
    endedAt += base;
    base = Math.floor(base * factor);
    if (base > Math.round(cap * 1e6)) return { asked, endedAt };
  }
  return { asked: 0, endedAt };
}

it("makes the calls and ends at the instant that its options determine", async () => {
  await fc.assert(
    fc.asyncProperty(shape, async (backoff) => {
      const clock = new FakeClock();
      const start = clock.monotonic();
      let asked = 0;
      const never = () => ++asked < 0;
      const wait = () => exponentialBackoff(never, { backoff, clock });
      const error = await clock.run(wait, { turns: 0 }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "ERR_WAIT_EXHAUSTED", attempts: asked });
      const endedAt = Math.round((clock.monotonic() - start) * 1e6);
      expect({ asked, endedAt }).toEqual(promised(backoff));
      expect(clock.waiters()).toBe(0);
    }),
  );
});
