import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { TokenBucket } from "../../src/limit/token-bucket.ts";

const delays = (bucket: TokenBucket, count: number): number[] =>
  Array.from({ length: count }, () => bucket.reserve().delay);

it("does not return a token whose time has passed", async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, 10, 1);
  bucket.reserve();
  const late = bucket.reserve();
  await clock.step(125);
  bucket.cancel(late);
  expect(delays(bucket, 2)).toEqual([75, 175]);
});

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

it("truncates delays to nanoseconds, and returns the rest of a token like Go", () => {
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

it("returns nothing of a token that a later reservation depends on", () => {
  const bucket = new TokenBucket(new FakeClock(), 1, 1);
  bucket.reserve();
  const second = bucket.reserve();
  bucket.reserve();
  bucket.cancel(second);
  expect(delays(bucket, 1)).toEqual([3_000]);
});

it("returns the truncated part of a nanosecond if a later reservation depends on the token", () => {
  const bucket = new TokenBucket(new FakeClock(), 3, 1);
  bucket.reserve();
  const second = bucket.reserve();
  bucket.reserve();
  bucket.cancel(second);
  expect(delays(bucket, 1)).toEqual([999.999999]);
});

it("holds no more than its burst right after a cancellation", async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, 10, 2);
  const due = bucket.reserve();
  await clock.step(0);
  bucket.cancel(due);
  bucket.cancel(due); // a mistake of the caller makes no third token
  expect(delays(bucket, 3)).toEqual([0, 0, 100]);
});

it("takes nothing for the cancellation of a token that two later reservations depend on", () => {
  const bucket = new TokenBucket(new FakeClock(), 1, 1);
  bucket.reserve();
  const second = bucket.reserve();
  bucket.reserve();
  bucket.reserve();
  bucket.cancel(second);
  expect(delays(bucket, 1)).toEqual([4_000]);
});

it("returns one token for each cancellation, whichever came first", () => {
  const bucket = new TokenBucket(new FakeClock(), 3, 1);
  bucket.reserve();
  const [second, third] = [bucket.reserve(), bucket.reserve()];
  bucket.cancel(second);
  bucket.cancel(third);
  expect(delays(bucket, 1)).toEqual([666.666666]);
});

it("returns one token for each cancellation of a burst", () => {
  const bucket = new TokenBucket(new FakeClock(), 10, 3);
  const [, second, third] = [bucket.reserve(), bucket.reserve(), bucket.reserve()];
  bucket.cancel(third);
  bucket.cancel(second);
  expect(delays(bucket, 3)).toEqual([0, 0, 100]);
});

it("returns the first token after the one that waits for it", () => {
  const bucket = new TokenBucket(new FakeClock(), 10, 1);
  const [first, second] = [bucket.reserve(), bucket.reserve()];
  bucket.cancel(second);
  bucket.cancel(first);
  expect(delays(bucket, 2)).toEqual([0, 100]);
});
