import { FakeClock } from "@holdfast/clock/testing";
import { exponentialBackoff } from "@holdfast/wait";
import fc from "fast-check";
import { expect, it } from "vitest";

it("asks at most as often as it has steps, whatever its shape", async () => {
  const shape = fc.record({
    duration: fc.nat(1000),
    factor: fc.double({ min: 0.1, max: 10, noNaN: true }),
    cap: fc.double({ min: 0.1, max: 1e6, noNaN: true }),
    steps: fc.nat(20),
  });
  await fc.assert(
    fc.asyncProperty(shape, async (backoff) => {
      const clock = new FakeClock({ turns: 0 });
      let asked = 0;
      const never = () => ++asked < 0;
      const wait = () => exponentialBackoff(never, { backoff, clock });
      const error = await clock.run(wait).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "ERR_WAIT_EXHAUSTED", attempts: asked });
      expect(asked).toBeLessThanOrEqual(backoff.steps);
      expect(clock.waiters()).toBe(0);
    }),
  );
});
