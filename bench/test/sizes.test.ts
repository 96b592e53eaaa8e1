import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { bundles } from "../suites/bundles.mjs";

type Measure = () => () => Promise<Record<string, number>>;

const contenders = bundles.cases[0]?.contenders as unknown as Record<string, Measure>;
const guide = readFileSync(new URL("../../docs/comparison.md", import.meta.url), "utf8");

/** Bytes as the guide writes them: "1.8 kB". */
const written = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`;

async function sizeOf(name: string, column = "gzipped"): Promise<number> {
  const measure = contenders[name];
  if (measure === undefined) throw new Error(`there is no contender "${name}"`);
  return (await measure()())[column] ?? Number.NaN;
}

it.each([
  { row: "p-retry 9", contender: "p-retry" },
  { row: "cockatiel 4", contender: "cockatiel" },
  { row: "async-retry 1", contender: "async-retry" },
  { row: "exponential-backoff 3", contender: "exponential-backoff" },
  { row: "rxjs 7.8, `retry`", contender: "rxjs, retry and timer" },
  { row: "effect 4", contender: "effect, Effect.retry" },
])("the guide has the size of $row", async ({ row, contender }) => {
  const line = guide.split("\n").find((one) => one.startsWith(`| ${row} |`) && one.includes(" kB"));
  expect(line).toContain(`| ${written(await sizeOf(contender))} |`);
});

it("the guide has the size of retry, and of the clock in it, to a quarter of a kilobyte", async () => {
  const row =
    /^\| \*\*Holdfast\*\*, `retry` .* ([\d.]+) kB, of which the clock is ([\d.]+) kB/m.exec(guide);
  const [whole, own] = [await sizeOf("retry"), await sizeOf("retry", "without the clock")];
  expect(Math.abs(Number(row?.[1]) * 1_000 - whole)).toBeLessThan(250);
  expect(Math.abs(Number(row?.[2]) * 1_000 - (whole - own))).toBeLessThan(250);
});
