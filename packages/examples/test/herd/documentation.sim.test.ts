import { readFileSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { compareForms, type Run } from "../../src/herd/compare-forms.ts";
import { pictures } from "../../src/herd/pictures.ts";
import { count, seconds } from "../../src/herd/report.ts";
import { scenario } from "../../src/herd/scenario.ts";

const PATIENCE = 60_000;
const outage = scenario(1);
let runs: Run[];

beforeAll(async () => {
  runs = await compareForms(outage);
}, PATIENCE);

function documentation(name: string): string {
  return readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8");
}

it("the pictures equal the drawings of the simulation", () => {
  for (const [name, svg] of pictures(runs, outage))
    expect(documentation(`img/${name}`) === svg, `to draw ${name} anew: npm run docs`).toBe(true);
});

it("the figures in the guide equal those of the simulation", () => {
  const rows = runs.map(({ form, load: { inVain, calls, peak, lastServed } }) => {
    const cells = [form.title, count(inVain), count(calls), count(peak), seconds(lastServed)];
    return `| ${cells.join(" | ")} |`;
  });
  const guide = documentation("choosing-jitter.md").split("\n");
  expect(guide.filter((line) => rows.includes(line))).toEqual(rows);
});

it("the README and the front page quote the figures of the simulation", () => {
  const [none = "", full = ""] = ["none", "full"].map((name) =>
    seconds(runs.find(({ form }) => form.name === name)?.load.lastServed ?? Number.NaN),
  );
  for (const name of ["../README.md", "site/landing.md"]) {
    const text = documentation(name);
    expect(text).toContain(none);
    expect(text).toContain(full);
  }
});
