import { beforeAll, expect, it } from "vitest";
import { compareForms } from "../../src/herd/compare-forms.ts";
import { COLUMNS, closingLines, titleLines } from "../../src/herd/report.ts";
import { scenario } from "../../src/herd/scenario.ts";
import type { Measurement } from "../../src/herd/simulate.ts";
import { headOf, lineOf } from "../../src/terminal/table.ts";

const outage = scenario(1);
let loads: Measurement[];

beforeAll(async () => {
  loads = (await compareForms(outage)).map(({ load }) => load);
});

it("fits 60 columns", () => {
  const table = [headOf(COLUMNS), ...loads.map((load) => lineOf(COLUMNS, load))];
  for (const line of [...titleLines(outage), ...table, ...closingLines(loads, outage)])
    expect(line.length, line).toBeLessThanOrEqual(60);
});

it("defines every column", () => {
  const defined = closingLines(loads, outage).map((line) => line.split("  ")[0]);
  for (const { title } of COLUMNS.slice(1)) expect(defined).toContain(title);
});

it("compares the best form with no jitter, from the figures of the run", () => {
  const [none, ...others] = loads.map(({ form, lastServed }) => ({ form, lastServed }));
  const best = others.toSorted((a, b) => a.lastServed - b.lastServed)[0];
  if (none === undefined || best === undefined) throw new Error("no runs");
  const times = Math.round(none.lastServed / best.lastServed);
  expect(closingLines(loads, outage)).toContain(
    `Jitter "${best.form}" serves all ${times} times sooner than "${none.form}".`,
  );
});
