import { FakeClock } from "@holdfast/clock/testing";
import { type ConnectAttempt, connectWithBackoff, keepConnected } from "@holdfast/wait/connect";
import { GrpcBackoff, seededRandom } from "@holdfast/wait/strategies";
import fc from "fast-check";
import { expect, it } from "vitest";

const never = Number.POSITIVE_INFINITY;

const toNanoseconds = (time: number) => Math.round(time * 1e6);

const shape = fc.record({
  duration: fc.integer({ min: 1, max: 2_000 }),
  factor: fc.double({ min: 1, max: 3, noNaN: true }),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  cap: fc.integer({ min: 2_000, max: 20_000 }),
});

const minConnectTimeout = fc.nat(5_000);

/** Duration of an attempt without a time limit. */
const durationOfAttempt = fc.oneof(fc.constantFrom(0, 1, never), fc.nat(8_000));

/**
 * When attempts start by the published protocol, given how long each would take to fail and the delay
 * that follows its start.
 */
function published(durations: readonly number[], delays: readonly number[], least: number) {
  const starts: number[] = [];
  let now = 0;
  durations.forEach((duration, index) => {
    starts.push(now);
    const deadline = now + (delays[index] as number);
    const until = Math.max(deadline, now + least);
    const failedAt = Math.min(now + duration, until);
    now = Math.max(failedAt, deadline);
  });
  return [...starts, now];
}

it("starts every attempt at the instant of the published protocol", async () => {
  await fc.assert(
    fc.asyncProperty(
      shape,
      minConnectTimeout,
      fc.array(durationOfAttempt, { maxLength: 12 }),
      fc.integer(),
      async (options, least, durations, seed) => {
        const clock = new FakeClock();
        const start = clock.monotonic();
        const starts: number[] = [];
        const delays: number[] = [];
        const connect = async ({ attempt, delay, signal }: ConnectAttempt) => {
          starts.push(clock.monotonic() - start);
          delays.push(delay);
          const duration = durations[attempt - 1];
          if (duration === undefined) return;
          await clock.sleep(duration, { signal });
          throw new Error("refused");
        };
        const backoff = new GrpcBackoff({ ...options, random: seededRandom(seed) });
        const { signal } = new AbortController();
        const all = { signal, clock, backoff, minConnectTimeout: least };
        await clock.run(() => connectWithBackoff(connect, all));

        const next = new GrpcBackoff({ ...options, random: seededRandom(seed) }).delayFunc();
        expect(delays).toEqual(delays.map(next));
        const wanted = published(durations, delays, least);
        expect(starts.map(toNanoseconds)).toEqual(wanted.map(toNanoseconds));
        expect(clock.waiters()).toBe(0);
      },
    ),
  );
});

/** Duration of an attempt and lifetime of its connection; undefined if refused. */
const attempts = fc.array(
  fc.tuple(durationOfAttempt, fc.option(fc.nat(8_000), { nil: undefined })),
  {
    minLength: 2,
    maxLength: 30,
  },
);

it("starts every attempt on time after any outcome of the previous one", async () => {
  await fc.assert(
    fc.asyncProperty(shape, minConnectTimeout, attempts, async (options, least, script) => {
      const clock = new FakeClock();
      const stop = new AbortController();
      const seen: { at: number; attempt: number }[] = [];
      /** The expected events, from the script and from the delay passed to each attempt. */
      const wanted = [{ at: clock.monotonic(), attempt: 1 }];

      const connect = async ({ attempt, delay, timeout, signal }: ConnectAttempt) => {
        const now = clock.monotonic();
        seen.push({ at: now, attempt });
        const [duration, holds] = script[seen.length - 1] ?? [0, undefined];
        if (seen.length > script.length) stop.abort();
        else if (holds !== undefined && duration < Math.max(delay, least))
          wanted.push({
            at: now + Math.max(duration + holds, Math.min(options.duration, delay)),
            attempt: 1,
          });
        else
          wanted.push({
            at: now + Math.max(Math.min(duration, timeout), delay),
            attempt: attempt + 1,
          });
        await clock.sleep(duration, { signal });
        if (holds === undefined) throw new Error("refused");
        return holds;
      };
      const use = (holds: number, signal: AbortSignal) => clock.sleep(holds, { signal });
      const backoff = new GrpcBackoff({ ...options, random: seededRandom(1) });
      const { signal } = stop;
      const all = {
        signal,
        clock,
        backoff,
        minConnectTimeout: least,
        resetAfter: 0,
        random: () => 0,
      };
      await clock.run(() => keepConnected(connect, use, all));

      const rounded = (list: typeof seen) =>
        list.map(({ at, attempt }) => ({ at: toNanoseconds(at), attempt }));
      expect(rounded(seen)).toEqual(rounded(wanted));
      expect(clock.waiters()).toBe(0);
    }),
  );
});

it("spreads a thousand clients that lost the same server", async () => {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const stop = new AbortController();
  const perTenth = new Map<number, number>();
  const connect = ({ attempt }: ConnectAttempt) => {
    const tenth = Math.floor((clock.monotonic() - start) / 100);
    if (attempt === 3) perTenth.set(tenth, (perTenth.get(tenth) ?? 0) + 1);
    throw new Error("refused");
  };
  const clients = Array.from({ length: 1_000 }, (_, seed) => {
    const backoff = new GrpcBackoff({ random: seededRandom(seed) });
    return connectWithBackoff(connect, { signal: stop.signal, clock, backoff });
  });
  await clock.step(3_000);
  stop.abort("enough");
  const ends = await Promise.allSettled(clients);
  expect(new Set(ends.map((end) => end.status === "rejected" && end.reason))).toEqual(
    new Set(["enough"]),
  );
  // The second attempt is exact, one second after the first; the third comes 1.28 to 1.92 s later.
  const tenths = [...perTenth.keys()].toSorted((a, b) => a - b);
  expect(tenths).toEqual([22, 23, 24, 25, 26, 27, 28, 29]);
  expect(Math.max(...perTenth.values())).toBeLessThan(300);
});
