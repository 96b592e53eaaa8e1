import { FakeClock } from "@holdfast/clock/testing";
import { seededRandom } from "@holdfast/wait";
import { expect, it } from "vitest";
import { killSome } from "../../src/outbox/killing.ts";
import type { WorkerPool } from "../../src/outbox/worker-pool.ts";

/** A pool of two, of whom nobody dies: it counts. */
function fakePool() {
  const killed: string[] = [];
  const workers = ["a", "b"].map((name) => ({ name, kill: () => killed.push(name) }));
  return { killed, pool: { workers } as unknown as WorkerPool, workers };
}

const clock = new FakeClock();
const facts = { kills: 4, messages: 100, clock };

it("kills the given number, none too early and the last at three quarters", async () => {
  const { pool, killed } = fakePool();
  let arrived = 0;
  const random = seededRandom(1);
  const stop = new AbortController();
  const done = killSome(pool, { ...facts, arrived: () => arrived, random }, stop.signal);
  const counts: number[] = [];
  for (arrived = 0; arrived < 75; arrived++) {
    await clock.step(100);
    counts.push(killed.length);
  }
  await clock.run(() => done);
  expect(killed).toHaveLength(4);
  expect(new Set(counts).size).toBeGreaterThan(2); // spread, not all at once
  expect(clock.pending()).toEqual([]);
});

it("waits for a worker to kill", async () => {
  const { pool, killed, workers } = fakePool();
  const all = workers.splice(0);
  const options = { ...facts, kills: 1, arrived: () => 100, random: () => 0 };
  const done = killSome(pool, options, new AbortController().signal);
  await clock.step(1_000);
  expect(killed).toEqual([]);
  workers.push(...all);
  await clock.run(() => done);
  expect(killed).toEqual(["a"]);
});

it("stops at its signal, and leaves nothing", async () => {
  const { pool, killed } = fakePool();
  const stop = new AbortController();
  const options = { ...facts, arrived: () => -1, random: () => 0 };
  const done = killSome(pool, options, stop.signal);
  await clock.step(1_000);
  stop.abort();
  await done;
  expect(killed).toEqual([]);
  expect(clock.pending()).toEqual([]);
});
