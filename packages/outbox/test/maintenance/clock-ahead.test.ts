import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, silentLogger } from "@holdfast/controller";
import { Recovery, Retention } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { expect, it } from "vitest";
import { deliver } from "../outcomes.ts";
import { sample } from "../sample.ts";

const DAY = 86_400_000;

/** A database with a clock of its own, a delivered message, and one that a relay is sending. */
async function setUp() {
  const clock = new FakeClock();
  const start = clock.now() - clock.monotonic();
  const store = Object.assign(new MemoryStore(), { now: async () => start + clock.monotonic() });
  await store.transaction(async (tx) => {
    for (const number of [1, 2]) await store.save(tx, sample(number), clock.now());
  });
  const request = { relay: "relay", now: clock.now(), until: clock.now() + 60_000, limit: 1 };
  for (const claim of (await store.claim(request)).claims) await deliver(store, claim, clock.now());
  await store.claim(request);
  const statuses = async () => {
    const { delivered, pending } = await store.counts();
    const { claims } = await store.expired(Number.MAX_SAFE_INTEGER, 9);
    return { delivered, pending, claimed: claims.length };
  };
  return { clock, store, statuses };
}

it.each([5 / 24, 30, 3_650])(
  "nothing ends early on a clock that is %d days ahead",
  async (days) => {
    const { clock, store, statuses } = await setUp();
    const common = { name: "a", store, lock: new MemoryLock(), clock, logger: silentLogger };
    const stop = new AbortController();
    const retention = new Retention({ ...common, olderThan: DAY });
    const running = [retention, new Recovery(common)].map((task) => task.run(stop.signal));
    clock.setSystemTime(clock.now() + days * DAY);
    await clock.step(59_000);
    expect(await statuses()).toEqual({ delivered: 1, pending: 1, claimed: 1 });
    await clock.step(60_000);
    expect(await statuses()).toEqual({ delivered: 1, pending: 1, claimed: 0 });
    await clock.step(DAY);
    expect(await statuses()).toEqual({ delivered: 0, pending: 1, claimed: 0 });
    stop.abort();
    await clock.run(() => Promise.all(running));
  },
);

it("nothing ends early on a clock that was ahead and is behind now", async () => {
  const { clock, store, statuses } = await setUp();
  const common = { name: "a", store, lock: new MemoryLock(), clock, logger: silentLogger };
  const stop = new AbortController();
  clock.setSystemTime(clock.now() - 5 * 3_600_000);
  const running = new Retention({ ...common, olderThan: DAY }).run(stop.signal);
  await clock.step(DAY + 4 * 3_600_000);
  expect(await statuses()).toMatchObject({ delivered: 1 });
  await clock.step(2 * 3_600_000);
  expect(await statuses()).toMatchObject({ delivered: 0 });
  stop.abort();
  await clock.run(() => running);
});
