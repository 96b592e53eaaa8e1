import { describe, expect, inject, it } from "vitest";
import { ElectionWorld, LONGEST_GAP, type Verdict } from "./election-world.ts";

/** `ELECTIONS=10000` for a night. */
const RUNS = Number(process.env["ELECTIONS"] ?? (inject("isThorough") ? 200 : 15));

describe("elections under clock skew, pauses, crashes, lost and late replies", () => {
  it(
    `have at most one leader in each of ${RUNS} seeds, and a new one soon`,
    async () => {
      const first = inject("seed");
      let terms = 0;
      let longestGap = 0;
      const failed: (Verdict & { readonly seed: number })[] = [];
      for (let seed = first; seed < first + RUNS; seed++) {
        const verdict = await new ElectionWorld(seed).run();
        terms += verdict.terms;
        longestGap = Math.max(longestGap, verdict.longestGap);
        const isGood =
          verdict.faults.length === 0 && verdict.waiters === 0 && verdict.longestGap <= LONGEST_GAP;
        if (!isGood) failed.push({ seed, ...verdict });
      }
      expect(failed).toEqual([]);
      // A world in which nothing happens would prove nothing.
      expect(terms).toBeGreaterThan(4 * RUNS);
      expect(longestGap).toBeGreaterThan(1_000);
      if (process.env["ELECTIONS"]) console.log({ RUNS, terms, longestGap, LONGEST_GAP });
    },
    30_000 + 200 * RUNS,
  );
});
