import { FakeClock } from "@holdfast/clock/testing";
import { backoffUntil } from "@holdfast/wait";
import { delayUntil } from "@holdfast/wait/go";
import { backoffManager } from "@holdfast/wait/loop";
import {
  BinaryExponentialBackoff,
  type BinaryExponentialBackoffOptions,
  ExcessiveCollisionsError,
  expectedSlots,
  seededRandom,
} from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { ALMOST_ONE, draws } from "../draws.ts";

const inf = Number.POSITIVE_INFINITY;

interface Case {
  readonly options: BinaryExponentialBackoffOptions;
  readonly delays: readonly number[];
}

it.each(
  Object.entries<Case>({
    "doubles its range up to 1023 slots and then keeps it": {
      options: { slotTime: 1, random: () => ALMOST_ONE },
      delays: [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 1023, 1023, 1023, 1023, 1023],
    },
    "waits no slot for a draw of 0": {
      options: { slotTime: 1, random: () => 0 },
      delays: new Array<number>(15).fill(0),
    },
    "draws for each delay": {
      options: { slotTime: 2, random: draws(0.5, 0.25, 0.75) },
      delays: [2, 2, 12],
    },
    "has slots of 51.2 µs to the nanosecond": {
      options: { slotTime: 0.0512, random: () => ALMOST_ONE },
      delays: [0.0512, 0.1536, 0.3584],
    },
    "keeps its range from collision backoffLimit": {
      options: { slotTime: 1, backoffLimit: 2, random: () => ALMOST_ONE },
      delays: [1, 3, 3, 3],
    },
    "does not wait with a backoffLimit of 0": {
      options: { slotTime: 1, backoffLimit: 0, random: () => ALMOST_ONE },
      delays: [0, 0],
    },
    "treats undefined as the default": {
      options: {
        slotTime: 0,
        backoffLimit: undefined,
        attemptLimit: undefined,
        random: undefined,
      },
      delays: [0, 0],
    },
  }),
)("%s", (_, { options, delays }) => {
  const backoff = new BinaryExponentialBackoff(options);
  expect(delays.map(() => backoff.collision())).toEqual(delays);
  expect(delays.map(backoff.delayFunc())).toEqual(delays);
});

it("is at most 2^63 ns, and 0 for a draw of 0, in any range", () => {
  const options = { slotTime: 1, backoffLimit: inf, attemptLimit: inf };
  const widest = new BinaryExponentialBackoff({ ...options, random: () => ALMOST_ONE }).delayFunc();
  const narrowest = new BinaryExponentialBackoff({ ...options, random: () => 0 }).delayFunc();
  for (let collision = 1; collision < 2000; collision++) {
    widest();
    narrowest();
  }
  expect([widest(), narrowest()]).toEqual([2 ** 63 / 1e6, 0]);
});

it("draws every number of slots in its range equally often", () => {
  const random = seededRandom(3);
  const counts = new Array<number>(8).fill(0);
  for (let i = 0; i < 8_000; i++) {
    const backoff = new BinaryExponentialBackoff({ slotTime: 1, random });
    backoff.collision();
    backoff.collision();
    const slots = backoff.collision();
    counts[slots] = (counts[slots] as number) + 1;
  }
  expect(counts).toHaveLength(8);
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(5 * Math.sqrt(875));
});

it("throws at collision 16 and later, and counts from 0 after a reset", () => {
  const backoff = new BinaryExponentialBackoff({ slotTime: 1, random: () => ALMOST_ONE });
  for (let collision = 1; collision <= 15; collision++) {
    backoff.collision();
    expect(backoff.collisions).toBe(collision);
  }
  for (const _ of [1, 2]) {
    expect(() => backoff.collision()).toThrow(new ExcessiveCollisionsError(16));
    expect(backoff.collisions).toBe(16);
  }
  backoff.reset();
  expect(backoff.collisions).toBe(0);
  expect(backoff.collision()).toBe(1);
});

it("throws at the first collision with an attemptLimit of 1", () => {
  const backoff = new BinaryExponentialBackoff({ slotTime: 1, attemptLimit: 1 });
  expect(() => backoff.collision()).toThrow(new ExcessiveCollisionsError(1));
});

it("makes no draw for a collision that throws", () => {
  let drawn = 0;
  const random = () => {
    drawn++;
    return 0;
  };
  const backoff = new BinaryExponentialBackoff({ slotTime: 1, attemptLimit: 3, random });
  expect([backoff.collision(), backoff.collision()]).toEqual([0, 0]);
  expect(() => backoff.collision()).toThrow(ExcessiveCollisionsError);
  expect(drawn).toBe(2);
});

it("starts each loop at the first collision", () => {
  const backoff = new BinaryExponentialBackoff({ slotTime: 1, random: () => ALMOST_ONE });
  backoff.collision();
  const next = backoff.delayFunc();
  expect([next(), next(), backoff.collision(), backoff.collisions]).toEqual([1, 3, 3, 2]);
});

it("rejects a loop after 16 attempts, leaving no timer and no listener", async () => {
  using clock = new FakeClock();
  const { signal } = new AbortController();
  const start = clock.monotonic();
  const attempts: number[] = [];
  const strategy = new BinaryExponentialBackoff({ slotTime: 1, random: () => ALMOST_ONE });
  const loop = backoffUntil(
    () => {
      attempts.push(clock.monotonic() - start);
    },
    backoffManager(strategy, { clock }),
    true,
    signal,
  );
  const error = await clock.run(() => loop.catch((reason: unknown) => reason));
  expect(error).toEqual(new ExcessiveCollisionsError(16));
  expect(attempts).toEqual([
    0, 1, 4, 11, 26, 57, 120, 247, 502, 1013, 2036, 3059, 4082, 5105, 6128, 7151,
  ]);
  expect([clock.waiters(), abortListeners(signal)]).toEqual([0, 0]);
});

it.each([
  { sliding: true, attempts: [0, 1, 4] },
  { sliding: false, attempts: [0, 1, 4] },
])("makes all attempts of a loop, sliding: $sliding", async ({ sliding, attempts }) => {
  using clock = new FakeClock();
  const start = clock.monotonic();
  const made: number[] = [];
  const strategy = new BinaryExponentialBackoff({
    slotTime: 1,
    attemptLimit: 3,
    random: () => ALMOST_ONE,
  });
  const isMade = () => made.push(clock.monotonic() - start) > 3;
  const end = delayUntil(strategy.delayFunc(), isMade, { clock, sliding });
  const error = await clock.run(() => end.catch((reason: unknown) => reason));
  expect(error).toEqual(new ExcessiveCollisionsError(3));
  expect(made).toEqual(attempts);
});

it("resolves if the last attempt of a loop succeeds", async () => {
  using clock = new FakeClock();
  const strategy = new BinaryExponentialBackoff({ slotTime: 1, attemptLimit: 1 });
  await clock.run(() => delayUntil(strategy.delayFunc(), () => true, { clock }));
});

it.each([
  { args: [0], slots: 0 },
  { args: [1], slots: 0.5 },
  { args: [2], slots: 1.5 },
  { args: [10], slots: 511.5 },
  { args: [16], slots: 32_767.5 },
  { args: [16, 10], slots: 511.5 },
  { args: [3, 10], slots: 3.5 },
  { args: [1024], slots: inf },
  { args: [inf, 10], slots: 511.5 },
] as const)("has a mean of $slots slots after collision $args", ({ args, slots }) => {
  expect(expectedSlots(...(args as readonly [number, number?]))).toBe(slots);
});
