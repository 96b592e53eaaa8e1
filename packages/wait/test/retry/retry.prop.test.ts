import { FakeClock } from "@holdfast/clock/testing";
import { type RetryOptions, retry } from "@holdfast/wait";
import fc from "fast-check";
import { expect, it } from "vitest";

const orEndless = (limit: fc.Arbitrary<number>) =>
  fc.oneof(limit, fc.constant(Number.POSITIVE_INFINITY));

const delays = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 40, maxLength: 40 });

/** Retries work that fails `failures` times. Returns the instants of the calls and of the end. */
async function timesOf(
  failures: number,
  work: number,
  delays: readonly number[],
  options: RetryOptions,
) {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const calls: number[] = [];
  const left = [...delays];
  const backoff = { delayFunc: () => () => left.shift() as number };
  const fn = async () => {
    calls.push(clock.monotonic() - start);
    await clock.sleep(work);
    if (calls.length <= failures) throw new Error("refused");
  };
  const succeeded = await clock
    .run(() => retry(fn, { backoff, clock, ...options }), { turns: 0 })
    .then(
      () => true,
      () => false,
    );
  return { calls, succeeded, end: clock.monotonic() - start, waiters: clock.waiters() };
}

const scenario = fc.record({
  failures: fc.nat(30),
  work: fc.nat(20),
  delays,
  retries: orEndless(fc.nat(30)),
  maxElapsed: orEndless(fc.nat(2000)),
});

it("makes the calls that its limits allow, at the expected instants, and ends with the last", () =>
  fc.assert(
    fc.asyncProperty(scenario, async ({ failures, work, delays, retries, maxElapsed }) => {
      const seen = await timesOf(failures, work, delays, { retries, maxElapsed });
      const calls = [0];
      for (const delay of delays.slice(0, Math.min(failures, retries))) {
        const next = (calls.at(-1) as number) + work + delay;
        if (next > maxElapsed) break;
        calls.push(next);
      }
      expect(seen).toEqual({
        calls,
        succeeded: calls.length > failures,
        end: (calls.at(-1) as number) + work,
        waiters: 0,
      });
    }),
  ));

it("ends within maxElapsed and one attempt, for any attempts and delays", () =>
  fc.assert(
    fc.asyncProperty(scenario, async ({ work, delays, maxElapsed }) => {
      const endless = { retries: delays.length, maxElapsed };
      const { calls, end } = await timesOf(Number.POSITIVE_INFINITY, work, delays, endless);
      expect(calls.at(-1)).toBeLessThanOrEqual(maxElapsed);
      expect(end).toBeLessThanOrEqual(maxElapsed + work);
    }),
  ));

it("makes no call after an abort, and rejects at that instant", () =>
  fc.assert(
    fc.asyncProperty(scenario, fc.nat(1500), async ({ work, delays }, abortAt) => {
      const clock = new FakeClock();
      const start = clock.monotonic();
      const stop = new AbortController();
      const left = [...delays];
      let lastCall = 0;
      const fn = async () => {
        lastCall = clock.monotonic() - start;
        await clock.sleep(work);
        throw "refused";
      };
      const options = {
        backoff: { delayFunc: () => () => left.shift() ?? 100 },
        retries: Number.POSITIVE_INFINITY,
        signal: stop.signal,
        clock,
      };
      clock.afterFunc(abortAt, () => stop.abort("stop"));
      const ended = retry(fn, options).catch((reason: unknown) => [
        reason,
        clock.monotonic() - start,
      ]);
      await clock.step(2000);
      expect(await ended).toEqual(["stop", abortAt]);
      expect(lastCall).toBeLessThanOrEqual(abortAt);
      expect(clock.waiters()).toBe(0);
    }),
  ));
