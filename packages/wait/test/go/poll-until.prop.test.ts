import { FakeClock } from "@holdfast/clock/testing";
import { pollUntil } from "@holdfast/wait/go";
import fc from "fast-check";
import { expect, it } from "vitest";

/** Duration of each call of a condition. */
const durationsOfCalls = fc.array(fc.nat(5000), { minLength: 1, maxLength: 12 });

interface Call {
  readonly start: number;
  readonly end: number;
}

/** Polls until one call per duration has been made. */
async function callsOf(
  durations: readonly number[],
  interval: number,
  sliding: boolean,
): Promise<readonly Call[]> {
  const clock = new FakeClock();
  const begin = clock.monotonic();
  const calls: Call[] = [];
  const condition = async () => {
    const start = clock.monotonic() - begin;
    await clock.sleep(durations[calls.length] ?? 0);
    return calls.push({ start, end: clock.monotonic() - begin }) === durations.length;
  };
  await clock.run(() => pollUntil(condition, interval, { sliding, clock }), { turns: 0 });
  expect(clock.waiters()).toBe(0);
  return calls;
}

const pairsOf = (calls: readonly Call[]) =>
  calls.slice(1).map((call, index) => ({ before: calls[index] as Call, call }));

it("calls never overlap, and start on the grid or right after a call that missed it", async () => {
  await fc.assert(
    fc.asyncProperty(
      durationsOfCalls,
      fc.integer({ min: 1, max: 3000 }),
      async (durations, interval) => {
        for (const { before, call } of pairsOf(await callsOf(durations, interval, false))) {
          const beat = before.start - (before.start % interval) + interval;
          expect(call.start).toBe(Math.max(beat, before.end));
        }
      },
    ),
  );
});

it("a sliding poll waits for its interval after each call", async () => {
  await fc.assert(
    fc.asyncProperty(
      durationsOfCalls,
      fc.integer({ min: 1, max: 3000 }),
      async (durations, interval) => {
        for (const { before, call } of pairsOf(await callsOf(durations, interval, true)))
          expect(call.start).toBe(before.end + interval);
      },
    ),
  );
});
