import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { FailureRecords } from "../../src/limit/failure-records.ts";

it("keeps at most twice as many records as count, also for keys that are never forgotten", async () => {
  const clock = new FakeClock();
  const records = new FailureRecords(clock, 1_000);
  let largest = 0;
  for (let i = 0; i < 100_000; i++) {
    if (i % 100 === 0) await clock.step(10);
    records.fail(`${i}`, () => 0, undefined);
    largest = Math.max(largest, records.size);
  }
  // 10,000 fail in a second, and so many count at any time.
  expect(largest).toBeGreaterThan(10_000);
  expect(largest).toBeLessThanOrEqual(20_300);
});

it("keeps a record that counts through every sweep", async () => {
  const clock = new FakeClock();
  const records = new FailureRecords(clock, 1_000);
  records.fail("old", () => 1_000_000, undefined);
  for (let i = 0; i < 5_000; i++) records.fail(`${i}`, () => 0, undefined);
  await clock.step(999_999);
  for (let i = 5_000; i < 20_000; i++) records.fail(`${i}`, () => 0, undefined);
  expect([records.failures("old"), records.failures("0")]).toEqual([1, 0]);
  expect(records.fail("old", () => 0, undefined)).toBe(1);
});

it("forgets a failure that waits for an event after the expiry", async () => {
  const clock = new FakeClock();
  const records = new FailureRecords(clock, 1_000);
  records.fail("a", () => 0, Number.POSITIVE_INFINITY);
  await clock.step(1_000);
  expect(records.failures("a")).toBe(1);
  await clock.step(1);
  expect(records.failures("a")).toBe(0);
});
