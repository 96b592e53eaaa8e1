import { FakeClock } from "@holdfast/clock/testing";
import { seededRandom } from "@holdfast/wait";
import { expect, it } from "vitest";
import type { Crew } from "../../src/outbox/crew.ts";
import { killSome } from "../../src/outbox/killing.ts";

/** A crew of two, of whom nobody dies: it counts. */
function fakeCrew() {
  const killed: string[] = [];
  const workers = ["a", "b"].map((name) => ({ name, kill: () => killed.push(name) }));
  return { killed, crew: { workers } as unknown as Crew, workers };
}

const clock = new FakeClock();
const facts = { kills: 4, messages: 100, clock };

it("kills the given number, none too early and the last at three quarters", async () => {
  const { crew, killed } = fakeCrew();
  let arrived = 0;
  const random = seededRandom(1);
  const stop = new AbortController();
  const done = killSome(crew, { ...facts, arrived: () => arrived, random }, stop.signal);
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
  const { crew, killed, workers } = fakeCrew();
  const all = workers.splice(0);
  const options = { ...facts, kills: 1, arrived: () => 100, random: () => 0 };
  const done = killSome(crew, options, new AbortController().signal);
  await clock.step(1_000);
  expect(killed).toEqual([]);
  workers.push(...all);
  await clock.run(() => done);
  expect(killed).toEqual(["a"]);
});

it("stops at its signal, and leaves nothing", async () => {
  const { crew, killed } = fakeCrew();
  const stop = new AbortController();
  const options = { ...facts, arrived: () => -1, random: () => 0 };
  const done = killSome(crew, options, stop.signal);
  await clock.step(1_000);
  stop.abort();
  await done;
  expect(killed).toEqual([]);
  expect(clock.pending()).toEqual([]);
});
