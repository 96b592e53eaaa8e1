import { FakeClock } from "@holdfast/clock/testing";
import { Controller, ExponentialLimiter, resync, silentLogger } from "@holdfast/controller";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, inject, it } from "vitest";

// A day of a controller with many keys, whose backend is down for hours; with `npm run sim` a week of
// it. How long it takes is printed, not asserted: the machine may be busy.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KEYS = Array.from({ length: inject("isThorough") ? 10_000 : 3_000 }, (_, i) => `key-${i}`);

/** Down from 2:00 to 4:00 on each day, and a tenth of all calls fail at other times. */
const isDown = (at: number): boolean => at % DAY >= 2 * HOUR && at % DAY < 4 * HOUR;

const days = inject("isThorough") ? 7 : 1;

it(`${days} day(s) with ${KEYS.length} keys and a failing backend leave every key as it should be`, {
  timeout: 600_000,
}, async () => {
  const seed = inject("simSeed");
  const random = seededRandom(seed);
  const clock = new FakeClock();
  const stop = new AbortController();
  const start = clock.monotonic();
  const wanted = new Map(KEYS.map((key) => [key, 0]));
  const actual = new Map<string, number>();
  const running = new Set<string>();
  const runTwice: string[] = [];
  const counts = { reconciles: 0, failures: 0, changes: 0, mostDelayed: 0 };

  const controller = new Controller({
    name: "week",
    logger: silentLogger,
    clock,
    random,
    workers: 20,
    limiter: new ExponentialLimiter({ duration: MINUTE, cap: HOUR, jitter: 0.5, clock, random }),
    sources: [resync({ list: () => KEYS, interval: 12 * HOUR, priority: -10 })],
    reconcile({ key }) {
      if (running.has(key)) runTwice.push(key);
      counts.reconciles++;
      const isBroken = isDown(clock.monotonic() - start) || random() < 0.1;
      if (!isBroken) {
        actual.set(key, wanted.get(key) ?? 0);
        return undefined;
      }
      running.add(key);
      return Promise.resolve().then(() => {
        running.delete(key);
        counts.failures++;
        throw new Error("unreachable");
      });
    },
  });

  const began = performance.now();
  const run = controller.run(stop.signal);
  for (let minute = 0; minute < (days * DAY) / MINUTE; minute++) {
    for (let i = 0; i < 5; i++) {
      const key = KEYS[Math.floor(random() * KEYS.length)] as string;
      wanted.set(key, (wanted.get(key) ?? 0) + 1);
      counts.changes++;
      controller.add(key);
    }
    await clock.step(MINUTE, { turns: 0 });
    counts.mostDelayed = Math.max(counts.mostDelayed, controller.status().queue.delayed);
  }
  await clock.step(12 * HOUR, { turns: 0 });
  stop.abort();
  await clock.step(MINUTE, { turns: 0 });
  await run;
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);

  expect(runTwice).toEqual([]);
  expect(KEYS.filter((key) => actual.get(key) !== wanted.get(key))).toEqual([]);
  expect(controller.status().drain?.finished).toBe(true);
  expect(clock.waiters()).toBe(0);
  console.log(
    `${KEYS.length} keys, days: ${days}, seed ${seed}, in ${seconds} s: ${counts.changes} changes, ` +
      `${counts.reconciles} reconciles, ${counts.failures} failures, ` +
      `at most ${counts.mostDelayed} keys backing off at once`,
  );
});
