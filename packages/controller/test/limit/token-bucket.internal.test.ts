import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { TokenBucket } from "../../src/limit/token-bucket.ts";

const delays = (bucket: TokenBucket, count: number): number[] =>
  Array.from({ length: count }, () => bucket.reserve().delay);

it("returns a token at the instant at which it may be used", async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, 10, 1);
  bucket.reserve();
  const due = bucket.reserve();
  await clock.step(100);
  bucket.cancel(due);
  expect(delays(bucket, 2)).toEqual([0, 100]);
});

it("holds no more than its burst after a cancellation", async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, 10, 2);
  bucket.reserve();
  bucket.reserve();
  const third = bucket.reserve();
  await clock.step(99);
  bucket.cancel(third);
  await clock.step(10_000);
  expect(delays(bucket, 3)).toEqual([0, 0, 100]);
});

it("truncates delays to nanoseconds, like Go", () => {
  const bucket = new TokenBucket(new FakeClock(), 3, 1);
  bucket.reserve();
  const [second, third] = [bucket.reserve(), bucket.reserve()];
  expect([second.delay, third.delay]).toEqual([333.333333, 666.666666]);
  bucket.cancel(third);
  bucket.cancel(second);
  expect(delays(bucket, 2)).toEqual([333.333333, 666.666666]);
});

it("takes no token for a reservation that would be too late", () => {
  const bucket = new TokenBucket(new FakeClock(), 10, 1);
  bucket.reserve();
  expect([bucket.reserve(99), bucket.reserve(100)?.delay]).toEqual([undefined, 100]);
});

it("gives the instant of a canceled reservation to the next, although a later one counts from it", () => {
  const bucket = new TokenBucket(new FakeClock(), 3, 1);
  bucket.reserve();
  const second = bucket.reserve();
  bucket.reserve();
  bucket.cancel(second);
  expect(bucket.reserve(333)).toBeUndefined();
  expect(delays(bucket, 2)).toEqual([333.333333, 1_000]);
});

it.each([
  [1, [1_500, 2_500]],
  [2, [0, 1_500]],
  [3, [0, 0, 1_500]],
  [9, [0, 0, 1_500]],
])("keeps unused instants of the past up to a burst of %i", async (burst, expected) => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, 1, burst);
  delays(bucket, burst);
  const unused = [bucket.reserve(), bucket.reserve()];
  bucket.reserve();
  for (const reservation of unused.toReversed()) bucket.cancel(reservation);
  await clock.step(2_500);
  expect(delays(bucket, expected.length)).toEqual(expected);
});
