import { expect, it } from "vitest";
import { COLUMNS, closingLines, titleLines } from "../../src/ethernet/report.ts";
import { type Measurement, STATIONS, simulate } from "../../src/ethernet/simulate.ts";
import { headOf, lineOf } from "../../src/terminal/table.ts";

async function networks(): Promise<Measurement[]> {
  const runs: Measurement[] = [];
  for (const stations of STATIONS)
    runs.push(await simulate({ stations, bytes: 1_518, duration: 100, seed: 1 }));
  return runs;
}

it("fits 60 columns and defines every column", async () => {
  const runs = await networks();
  const closing = closingLines(runs);
  const table = [headOf(COLUMNS), ...runs.map((run) => lineOf(COLUMNS, run))];
  for (const line of [...titleLines(1_518, 60), ...table, ...closing])
    expect(line.length, line).toBeLessThanOrEqual(60);
  const defined = closing.map((line) => line.split("  ")[0]);
  for (const { title } of COLUMNS.slice(1)) expect(defined).toContain(title);
});

it("concludes from the figures of the run", async () => {
  const [one] = await networks();
  if (one === undefined) throw new Error("no network");
  const few = { ...one, stations: 2, repeated: 0.5 };
  const many = { ...one, stations: 256, dropShare: 0.256 };
  const closing = closingLines([few, many]);
  expect(closing).toContain("2 stations: one keeps the wire, 50.00 % capture.");
  expect(closing).toContain("256 stations: 25.60 % of the frames are given up.");
});
