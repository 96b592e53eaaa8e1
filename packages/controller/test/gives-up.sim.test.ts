import { FakeClock } from "@holdfast/clock/testing";
import { Manager, TokenBucketLimiter, WorkQueue } from "@holdfast/controller";
import { poll, retry, withTimeout } from "@holdfast/wait";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { type Door, IDLE, testGivesUp } from "../../../test/gives-up.contract.ts";

const ONE_PER_SECOND = { qps: 1, burst: 1 };
const ignore = (): void => {};

const DOORS: Record<string, Door> = {
  "TokenBucketLimiter.acquire": (clock) => {
    const limiter = new TokenBucketLimiter({ ...ONE_PER_SECOND, clock });
    return (signal) => limiter.acquire(signal);
  },
  "acquire within withTimeout": (clock) => {
    const limiter = new TokenBucketLimiter({ ...ONE_PER_SECOND, clock });
    return (signal) => withTimeout((limit) => limiter.acquire(limit), 2_000, { signal, clock });
  },
  "acquire within the attempts of retry": (clock) => {
    const limiter = new TokenBucketLimiter({ ...ONE_PER_SECOND, clock });
    return (signal) =>
      retry((attempt) => limiter.acquire(attempt.signal), {
        attemptTimeout: 1_500,
        backoff: { duration: 10 },
        signal,
        clock,
      });
  },
  "acquire within poll": (clock) => {
    const limiter = new TokenBucketLimiter({ ...ONE_PER_SECOND, clock });
    return (signal) =>
      poll(({ signal: limit }) => limiter.acquire(limit).then(() => true), { signal, clock });
  },
  "WorkQueue.get": (clock) => {
    const queue = new WorkQueue({ clock });
    const addNext = (turn: number): void => {
      queue.add(`turn ${turn}`);
      clock.afterFunc(1_000, () => addNext(turn + 1), { label: IDLE[0] });
    };
    addNext(0);
    return async (signal) => (await queue.get(signal))?.done();
  },
  "a Manager whose runnable waits for a token": (clock) => {
    const limiter = new TokenBucketLimiter({ ...ONE_PER_SECOND, clock });
    return async (signal) => {
      const manager = new Manager({ clock });
      const end = new AbortController();
      let isServed = false;
      const run = async (stop: AbortSignal): Promise<void> => {
        await limiter.acquire(stop);
        isServed = true;
        end.abort("served");
      };
      manager.add({ name: "worker", run: (stop) => run(stop).catch(ignore) });
      await manager.run(AbortSignal.any([signal, end.signal])).catch(ignore);
      if (!isServed) throw signal.reason;
    };
  },
};

describe("a call that gave up costs nobody anything", () => {
  testGivesUp(DOORS);
});

/** What happens after some milliseconds: a call, an abort of one that waits, or a retry of a queue. */
const step = fc.record({
  after: fc.nat(2_000),
  kind: fc.constantFrom("acquire", "abort", "when"),
  which: fc.nat(20),
});

it("never gives out more tokens than the burst and the rate, whoever gives up", async () => {
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 60 }),
    fc.integer({ min: 1, max: 4 }),
    async (steps, burst) => {
      const clock = new FakeClock();
      const limiter = new TokenBucketLimiter({ qps: 1, burst, clock });
      const used: number[] = [];
      const served: number[] = [];
      const waiting = new Map<number, AbortController>();
      for (const [index, { after, kind, which }] of steps.entries()) {
        await clock.step(after);
        if (kind === "when") used.push(clock.monotonic() + limiter.when(`key ${index}`));
        if (kind === "abort") [...waiting.values()][which]?.abort();
        if (kind !== "acquire") continue;
        const stop = new AbortController();
        waiting.set(index, stop);
        const done = (): void => {
          used.push(clock.monotonic());
          served.push(index);
        };
        void limiter
          .acquire(stop.signal)
          .then(done, ignore)
          .finally(() => waiting.delete(index));
      }
      await clock.step(100_000);
      expect([waiting.size, clock.waiters()]).toEqual([0, 0]);
      expect(served).toEqual(served.toSorted((a, b) => a - b));
      const times = used.toSorted((a, b) => a - b);
      for (const [first, from] of times.entries())
        for (const [last, to] of times.entries())
          if (last >= first)
            expect(last - first + 1).toBeLessThanOrEqual(burst + (to - from) / 1_000 + 1e-6);
    },
  );
  await fc.assert(property, { seed: inject("seed"), numRuns: 300 });
});
