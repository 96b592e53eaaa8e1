import { FakeClock } from "@holdfast/clock/testing";
import { KeyedBackoff } from "@holdfast/wait/go";
import fc from "fast-check";
import { expect, it } from "vitest";

it("holds each unexpired key, and after gc no other", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 3000, size: "max" }), (pauses) => {
      const clock = new FakeClock();
      const backoff = new KeyedBackoff<number>({ duration: 1, cap: 100, clock });
      const failedAt: number[] = [];
      for (const [key, pause] of pauses.entries()) {
        backoff.next(key);
        failedAt.push(clock.monotonic());
        clock.stepSync(pause);
      }
      const now = clock.monotonic();
      const live = failedAt.flatMap((at, key) => (now - at <= 200 ? [key] : []));
      for (const key of live) expect(backoff.get(key)).toBe(1);
      backoff.gc();
      expect(backoff.size).toBe(live.length);
    }),
    { numRuns: 20 },
  );
});
