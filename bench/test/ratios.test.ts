import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { judge } from "../claims.mjs";
import { exitCodeOf } from "../exit-code.mjs";
import { parseOptions } from "../options.mjs";
import { narrowed, planOf } from "../plan.mjs";
import { changedSince, compare, keep, keptRuns, kindOf, ratiosOf } from "../ratios.mjs";
import { report } from "../report.mjs";
import { suites } from "../suites/index.mjs";

const HERE = "a processor, 2 cores, linux, Node 20";
const ids = suites.map(({ id }) => id);

interface Verdict {
  readonly says: string;
  readonly measured: number;
  readonly isCpu: boolean;
  readonly most?: number;
  readonly least?: number;
  readonly reads: readonly { readonly suite: string }[];
}

/** A claim about CPU: the less the better, if it has a `most`. */
const most = (says: string, measured: number, suite = "f"): Verdict => ({
  says,
  measured,
  isCpu: true,
  most: 1.5,
  reads: [{ suite }],
});
const least = (says: string, measured: number): Verdict => ({
  says,
  measured,
  isCpu: true,
  least: 1,
  reads: [{ suite: "e" }],
});
const runOf = (ratios: Record<string, number>, machine = HERE) => ({
  date: "2026-11-28",
  machine,
  ratios,
});

/** Compares a first run with kept ratios, and those that are worse with a second. */
async function compared(
  ratios: Record<string, number>,
  first: Verdict[],
  second: Verdict[] = [],
  only = ids,
) {
  const asked: string[] = [];
  const comparison = await compare([runOf(ratios)], {
    machine: HERE,
    only,
    verdicts: first,
    again: async (worse: Verdict[]) => {
      asked.push(...worse.map(({ says }) => says));
      return second;
    },
  });
  return {
    asked,
    states: Object.fromEntries(comparison.map(({ says, state }) => [says, state])),
    code: exitCodeOf({
      results: [{}],
      verdicts: [],
      options: { compare: true, quick: false },
      comparison,
    }),
    text: report({
      verdicts: [],
      machine: { cpu: "", cores: 1, memoryGiB: 1, platform: "", node: "", v8: "" },
      versions: {},
      services: [],
      loads: [],
      suites: [],
      options: { only, rounds: 1 },
      comparison,
    }),
  };
}

describe("npm run bench -- --compare", () => {
  it.each([
    { limit: "most", claim: most, worse: 1.21, near: 1.19 },
    { limit: "least", claim: least, worse: 1 / 1.21, near: 1 / 1.19 },
  ])(
    "fails if a claim with a $limit is worse by 21 % in two runs, and not in one",
    async ({ claim, worse, near }) => {
      const kept = { slow: 1, same: 1 };
      const first = [claim("slow", worse), claim("same", near)];

      const twice = await compared(kept, first, [claim("slow", worse)]);
      expect(twice).toMatchObject({
        asked: ["slow"],
        states: { slow: "worse", same: "held" },
        code: 1,
      });
      expect(twice.text).toMatch(/slow .* worse/);

      const once = await compared(kept, first, [claim("slow", near)]);
      expect(once).toMatchObject({
        asked: ["slow"],
        states: { slow: "held", same: "held" },
        code: 0,
      });

      const better = await compared(kept, [claim("slow", 1 / worse), claim("same", 1)]);
      expect(better).toMatchObject({ asked: [], states: { slow: "held", same: "held" }, code: 0 });
    },
  );

  it("names a claim that is not kept, not measured or gone", async () => {
    const kept = { "left out": 1, removed: 1, "broken again": 1 };
    const first = [most("new", 9), most("left out", Number.NaN), most("broken again", 2)];
    const { states, code, text } = await compared(kept, first, [most("broken again", Number.NaN)]);
    expect(states).toEqual({
      new: "not kept",
      "left out": "not measured",
      "broken again": "not measured",
      removed: "gone",
    });
    expect(code).toBe(0);
    for (const [says, state] of Object.entries(states))
      expect(text).toMatch(new RegExp(`^\\| ${says} .* ${state} \\|$`, "m"));
  });

  it("with --only, compares the claims of these suites alone", async () => {
    const first = [most("mine", 1), most("foreign", 9, "e")];
    const { states } = await compared({ mine: 1, foreign: 1 }, first, [], ["f"]);
    expect(states).toEqual({ mine: "held" });
  });

  it("fails if a contender does: its claim would be unseen", () => {
    const results = [{}, { error: "TypeError: no" }];
    const options = { compare: true, quick: false };
    expect(exitCodeOf({ results, verdicts: [], options, comparison: [] })).toBe(1);
  });

  it("measures what claims about CPU read, and no more", () => {
    const claims = judge([]).filter(({ isCpu }) => isCpu);
    const { jobs } = planOf(narrowed(suites, claims), { only: ids, quick: false });
    const name = (one: { suite: string; case: string; size: number; contender: string }) =>
      `${one.suite} ${one.case} ${one.size} ${one.contender}`;
    const planned = new Set(jobs.map(name));
    const read = new Set(claims.flatMap(({ reads }) => reads.map(name)));
    expect([...read].filter((one) => !planned.has(one))).toEqual([]);
    expect(
      jobs.filter(({ suite }) => !["a", "b", "c", "e", "f", "k", "l", "o", "p"].includes(suite)),
    ).toEqual([]);
    expect([...planned].some((one) => one.endsWith("bottleneck"))).toBe(false);
  });

  it("does not count bytes, wall time or claims without a limit as CPU, and no two claims share a name", () => {
    const claims = judge([]);
    const cpu = claims.filter(({ isCpu }) => isCpu).map(({ says }) => says);
    expect(new Set(cpu).size).toBe(cpu.length);
    expect(cpu.length).toBeGreaterThan(20);
    expect(
      cpu.filter((says) =>
        /(?<!from )bytes|heap per|RSS|reconciles|messages wait|\(stated\)/.test(says),
      ),
    ).toEqual([]);
    const figures = claims.filter(({ isCpu }) => isCpu).flatMap(({ reads }) => reads);
    expect(figures.filter(({ figure }) => /wall|bytes|B\//.test(figure))).toEqual([]);
  });

  it("measures nothing on another kind of machine, says which it has, and exits with 0", async () => {
    const code = 'import os from "node:os"; os.cpus = () => [{ model: "another" }]';
    const env = {
      ...process.env,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
    };
    const main = fileURLToPath(new URL("../main.mjs", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [main, "--compare"], { env });
    expect(stdout).toMatch(/^NOT RUN: no claim is compared: .*; this is another, 1 cores, /);
    for (const { machine } of keptRuns()) expect(stdout).toContain(machine);
  });

  it("tells kinds of machines by processor, cores, system and major version of Node", () => {
    const one = { cpu: "EPYC", cores: 2, platform: "linux 6.1 x64", node: "v20.20.0" };
    expect(kindOf(one)).toBe("EPYC, 2 cores, linux, Node 20");
    expect(kindOf({ ...one, platform: "linux 6.2 x64", node: "v20.21.1" })).toBe(kindOf(one));
    for (const other of [
      { cpu: "M3" },
      { cores: 4 },
      { platform: "darwin 24 x64" },
      { node: "v22.1.0" },
    ])
      expect(kindOf({ ...one, ...other })).not.toBe(kindOf(one));
  });
});

describe("npm run bench -- --keep", () => {
  it("replaces the ratios of the claims that were measured on this machine, and no others", () => {
    const older = [runOf({ a: 1, b: 1, gone: 1 }), runOf({ a: 3 }, "another"), runOf({ b: 9 })];
    expect(keep(older, runOf({ b: 2 }), ["a", "b"])).toEqual([
      runOf({ b: 2 }),
      runOf({ a: 1 }),
      runOf({ a: 3 }, "another"),
    ]);
    expect(keep([runOf({ a: 1 })], runOf({}), ["a"])).toEqual([runOf({ a: 1 })]);
  });

  it("keeps the versions: a ratio may change with a rival", () => {
    const kept = { ...runOf({ a: 1 }), versions: { node: "v20.1.0", "p-retry": "8.0.0" } };
    const versions = { node: "v20.1.0", "p-retry": "9.0.0" };
    expect(changedSince([kept], { machine: HERE, versions })).toEqual([
      "p-retry 8.0.0 (2026-11-28) to 9.0.0",
    ]);
    expect(changedSince([kept], { machine: "another", versions })).toEqual([]);
  });

  it("keeps measured claims about CPU", () => {
    const bytes = { ...most("bytes", 1), isCpu: false };
    expect(ratiosOf([most("a", 1.23456), most("b", Number.NaN), bytes])).toEqual({ a: 1.23 });
  });

  it("takes neither --compare nor --quick with it", () => {
    for (const pair of [
      ["--keep", "--quick"],
      ["--compare", "--quick"],
      ["--keep", "--compare"],
    ])
      expect(() => parseOptions(pair, ids)).toThrow(
        /^--quick, --keep and --compare exclude one another/,
      );
    expect(parseOptions(["--compare", "--rounds", "3"], ids)).toMatchObject({
      compare: true,
      rounds: 3,
    });
  });
});

describe("npm run nightly", () => {
  /** Runs it with commands that only say what they are asked; the one of these words does what `script` says. */
  async function nightly(words: string, script: string): Promise<{ code: number; last: string }> {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-nightly-"));
    try {
      for (const name of ["npm", "node"]) {
        writeFileSync(
          join(folder, name),
          `#!/bin/sh\ncase "$*" in *"${words}"*) ${script};; *) echo "ran $*";; esac\n`,
        );
        chmodSync(join(folder, name), 0o755);
      }
      const env = { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` };
      const run = fileURLToPath(new URL("../../.ci/run", import.meta.url));
      const { code, stdout } = await promisify(execFile)("sh", [run, "nightly"], { env }).then(
        (done) => ({ code: 0, ...done }),
        (failure: { code: number; stdout: string }) => failure,
      );
      expect(stdout).toContain("ran run bench -- ");
      return { code, last: stdout.trimEnd().split("\n==== ").slice(-2).join("\n") };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it("says at its end what the bench has left out", async () => {
    const left = await nightly("--compare", 'echo "NOT RUN: another machine"');
    expect(left.code).toBe(0);
    expect(left.last).toBe("NOT RUN: another machine\n\nall that ran holds");
    const whole = await nightly("nothing like it", "true");
    expect([whole.code, whole.last]).toEqual([0, expect.stringMatching(/\nall of it holds$/)]);
  });

  it.each(["--quick", "--compare"])(
    "fails if the bench does with %s, after the other parts",
    async (option) => {
      const { code, last } = await nightly(option, "exit 1");
      expect(code).toBe(1);
      expect(last).toMatch(/\n1 of 6 parts failed$/);
    },
  );
});
