import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { ReplicaClock } from "../src/replica-clock.ts";

it("keeps no timer that has fired or was stopped", async () => {
  const world = new FakeClock();
  const clock = new ReplicaClock(world);
  await world.run(async () => {
    for (let count = 0; count < 100; count += 1) await clock.sleep(1);
    for (let count = 0; count < 100; count += 1) clock.afterFunc(5, () => {}).stop();
  });
  expect(clock.pending()).toEqual([]);
  expect(world.waiters()).toBe(0);
});

it("keeps a timer that is armed again", () => {
  const clock = new ReplicaClock(new FakeClock());
  const timer = clock.afterFunc(5, () => {}, { label: "again" });
  timer.stop();
  timer.reset(10);
  expect(clock.pending()).toEqual([{ label: "again", deadline: clock.monotonic() + 10 }]);
});

it("fires nothing after a crash, not even a timer that is armed again", async () => {
  const world = new FakeClock();
  const clock = new ReplicaClock(world);
  const fired: string[] = [];
  const timer = clock.afterFunc(5, () => fired.push("first"));
  clock.crash();
  timer.reset(5);
  clock.afterFunc(5, () => fired.push("second"));
  await world.step(1_000);
  expect([fired, world.waiters()]).toEqual([[], 0]);
});
