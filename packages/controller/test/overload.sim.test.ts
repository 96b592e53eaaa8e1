import { FakeClock } from "@holdfast/clock/testing";
import { LeaderElector, MemoryLock, silentLogger, TokenBucketLimiter } from "@holdfast/controller";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, inject, it } from "vitest";

const RUNS = inject("isThorough") ? 100 : 5;
const MINUTE = 60_000;
const ignore = (): void => {};

/** Random callers at ten times the rate; some fail keys of a queue on the same bucket. */
async function attackLimiter(seed: number) {
  const random = seededRandom(seed);
  const clock = new FakeClock();
  const start = clock.monotonic();
  const qps = 1 + Math.floor(random() * 5);
  const burst = 1 + Math.floor(random() * 20);
  const limiter = new TokenBucketLimiter({ qps, burst, clock });
  const used: number[] = [];
  for (let call = 0; clock.monotonic() - start < 3 * MINUTE; call++) {
    if (random() < 0.05) used.push(clock.monotonic() - start + limiter.when(`key ${call}`));
    const stop = new AbortController();
    const timer = clock.afterFunc(random() ** 2 * 20_000, () => stop.abort("gave up"));
    void limiter
      .acquire(stop.signal)
      .then(() => used.push(clock.monotonic() - start), ignore)
      .finally(() => timer.stop());
    await clock.step((random() * 200) / qps);
  }
  await clock.step(20_000);
  return { qps, burst, used: used.toSorted((a, b) => a - b), waiters: clock.waiters() };
}

it(`a limiter serves its rate under ten times as many callers that give up, in ${RUNS} worlds`, async () => {
  const from = inject("seed");
  for (let seed = from; seed < from + RUNS; seed++) {
    const { qps, burst, used, waiters } = await attackLimiter(seed);
    const message = `SEED=${seed}`;
    for (const end of [MINUTE, 2 * MINUTE, 3 * MINUTE]) {
      const count = used.filter((at) => at > end - MINUTE && at <= end).length;
      expect(count, message).toBeGreaterThanOrEqual(60 * qps - burst - 1);
      expect(count, message).toBeLessThanOrEqual(60 * qps + burst);
    }
    expect(waiters, message).toBe(0);
  }
});

it("a lock passes on while candidates come and give up", async () => {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const lock = new MemoryLock();
  const led: number[] = [];
  const pending: Promise<void>[] = [];
  for (let candidate = 0; clock.monotonic() - start < 5 * MINUTE; candidate++) {
    const stop = new AbortController();
    clock.afterFunc(10_000, () => stop.abort("gave up"));
    const elector = new LeaderElector({
      lock,
      identity: `candidate ${candidate}`,
      random: seededRandom(candidate),
      logger: silentLogger,
      clock,
      lead: async ({ signal }) => {
        led.push(clock.monotonic() - start);
        await clock.sleep(1_000, { signal });
        stop.abort("done");
      },
    });
    pending.push(elector.run(stop.signal).catch(ignore));
    await clock.step(300);
  }
  await clock.step(20_000);
  await Promise.all(pending);
  const perMinute = [0, 1, 2, 3, 4].map(
    (minute) => led.filter((at) => Math.floor(at / MINUTE) === minute).length,
  );
  expect(Math.min(...perMinute)).toBeGreaterThanOrEqual(20);
  expect(clock.waiters()).toBe(0);
});
