import { FakeClock } from "@holdfast/clock/testing";
import { type RetryOptions, retry } from "@holdfast/wait";
import { expect, inject, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { heapUsed } from "../../../../test/collect-garbage.ts";

const ATTEMPTS = inject("isThorough") ? 1_000_000 : 125_000;
const EARLY = 25_000;

it(`retains nothing of ${ATTEMPTS} attempts`, { timeout: 120_000 }, async () => {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  const refused = new Error("refused");
  const heap: number[] = [];
  const fn = async ({ attempt }: { attempt: number }) => {
    if (attempt === EARLY || attempt === ATTEMPTS) heap.push(await heapUsed());
    if (attempt < ATTEMPTS) throw refused;
    return abortListeners(signal);
  };
  const options: RetryOptions = {
    backoff: { duration: 1, factor: 1, jitter: 0.1 },
    retries: Number.POSITIVE_INFINITY,
    maxElapsed: 1e12,
    signal,
    clock,
  };
  const listeners = await clock.run(() => retry(fn, options), { turns: 0 });
  const [early, late] = heap as [number, number];
  expect(late - early).toBeLessThan((ATTEMPTS - EARLY) * 4); // not half a pointer for each
  expect([listeners, abortListeners(signal), clock.waiters()]).toEqual([1, 0, 0]);
});
