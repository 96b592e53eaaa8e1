import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runtimes } from "../../runtimes/list.mjs";
import { failuresOf, table } from "../../runtimes/report.mjs";

const guide = fileURLToPath(new URL("../../docs/runtimes.md", import.meta.url));

it("docs/runtimes.md shows the runtimes, versions and abilities that the suite checks", () => {
  const answer = { true: "yes", false: "no", undefined: "no process" };
  const [, ...rows] = readFileSync(guide, "utf8").split("\n## ")[0]?.split("| --- |\n") ?? [];
  const shown = rows
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("|"));
  const expected = runtimes.map(({ name, version, abilities }) => {
    const { hiddenAbort, asyncContext, exits } = abilities;
    const answers = [hiddenAbort, asyncContext, exits].map((ability) => answer[`${ability}`]);
    return `| ${[name, version, ...answers].join(" | ")} |`;
  });
  expect(shown).toEqual(expected);
});

const runtime = { abilities: { hiddenAbort: true, asyncContext: false, exits: undefined } };
const ABILITIES = [
  '{"ability":"hiddenAbort","value":true}',
  '{"ability":"asyncContext","value":false}',
];
const failuresIn = (lines: string[]) =>
  failuresOf(runtime as never, { version: "1", lines, errors: ["a crash"] });

it("a suite passes that prints every check without an error, its abilities and its end", () => {
  const lines = ['{"check":"a"}', '{"check":"b"}', ...ABILITIES, '{"checks":2}'];
  expect(failuresIn(lines)).toEqual({ passed: 2, failures: [] });
});

it.each([
  {
    problem: "a failed check",
    lines: ['{"check":"a","error":"Error: x"}', ...ABILITIES, '{"checks":1}'],
  },
  { problem: "another ability", lines: ['{"check":"a"}', ...ABILITIES.slice(1), '{"checks":1}'] },
  { problem: "no end", lines: ['{"check":"a"}', ...ABILITIES] },
  { problem: "a missing check", lines: ['{"check":"a"}', ...ABILITIES, '{"checks":2}'] },
  { problem: "no checks", lines: [...ABILITIES, '{"checks":0}'] },
])("a suite fails with $problem", ({ lines }) => {
  expect(failuresIn(lines).failures).toHaveLength(1);
});

it("a suite without output fails, and shows the other output", () => {
  expect(failuresIn([]).failures.at(-1)).toContain("a crash");
});

it("a runtime that did not start is shown as not run, never as passed", () => {
  const result = {
    name: "Deno",
    version: "",
    passed: 0,
    failures: [],
    seconds: 1,
    notRun: "offline",
  };
  expect(table([result])).toMatch(/Deno .* not run: offline$/);
});
