import { expect, inject, it } from "vitest";
import { OutboxWorld, type Verdict } from "./outbox-world.ts";

// Processes die before and after each commit, publish, confirmation and write of an outcome; they are paused, their
// requests and answers are lost, their clocks differ. In the end, whatever has happened:
// - every message that was committed has had its effect, and no other
// - nothing is stuck, and what was dead goes through once it is replayed
// - no message was worked on by two at the same time, but for one that stood still
// - every wait was as the schedule of its message says

/** In so many worlds everything happens that may. */
const ENOUGH = 12;

/** `OUTBOX_WORLDS=1000` for a long run. */
const RUNS = Number(process.env["OUTBOX_WORLDS"] ?? (inject("isThorough") ? ENOUGH : 1));

it(
  `loses nothing in ${RUNS} worlds full of failures`,
  async () => {
    const first = Number(process.env["SIM_SEED"] ?? inject("seed"));
    const failed: { seed: number; faults: Verdict["faults"] }[] = [];
    const totals = new Map<string, number>();
    const add = (name: string, count: number): unknown =>
      totals.set(name, (totals.get(name) ?? 0) + count);
    for (let seed = first; seed < first + RUNS; seed++) {
      const { faults, committed, duplicates, deaths, events } = await new OutboxWorld(seed).run();
      if (faults.length > 0) failed.push({ seed, faults });
      add("committed", committed);
      add("duplicates", duplicates);
      for (const [point, count] of deaths) add(point, count);
      for (const [type, count] of events) add(type, count);
    }
    expect(failed).toEqual([]);
    if (process.env["OUTBOX_WORLDS"]) console.log(Object.fromEntries(totals));
    if (RUNS < ENOUGH) return;
    // A world in which nothing happens would prove nothing.
    const deaths = ["commit", "publish", "store.write"].flatMap((at) => [
      `before ${at}`,
      `after ${at}`,
    ]);
    const events = ["committed", "duplicates", "delivered", "failed", "expired", "dead"];
    const holds = ["open", "paused", "opened", "closed", "resumed"];
    for (const name of [...deaths, ...events, ...holds]) expect(totals.has(name), name).toBe(true);
  },
  60_000 + 2_000 * RUNS,
);
