import { expect, inject, it } from "vitest";
import { ShardWorld } from "./shard-world.ts";

/** `HISTORIES=500` for a night. */
const HISTORIES = Number(process.env["HISTORIES"] ?? (inject("isThorough") ? 500 : 20));

it(
  `at most one replica works on a slot in ${HISTORIES} histories, and shares are even after each`,
  async () => {
    const first = inject("seed");
    const failed: object[] = [];
    let terms = 0;
    for (let seed = first; seed < first + HISTORIES; seed++) {
      const world = new ShardWorld(seed);
      const verdict = await world.run();
      terms += verdict.terms;
      if (verdict.faults.length > 0 || verdict.waiters > 0)
        failed.push({ seed, count: world.count, ...verdict });
    }
    expect(failed).toEqual([]);
    // A world in which nothing happens would prove nothing.
    expect(terms).toBeGreaterThan(8 * HISTORIES);
  },
  60_000 + 2_000 * HISTORIES,
);
