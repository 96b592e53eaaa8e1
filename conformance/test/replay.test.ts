import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkCase } from "../src/check-case.ts";
import { readData } from "../src/data-file.ts";
import { replayDirectory, replaySection, unusedRules } from "../src/replay.ts";
import { reportLines } from "../src/report-lines.ts";
import type { Section } from "../src/section.ts";
import { sections } from "../src/sections.ts";
import { GoldenDirectory, readGolden, shipped } from "./golden-directory.ts";

let directory: GoldenDirectory;

beforeEach(() => {
  directory = new GoldenDirectory();
});

afterEach(() => {
  rmSync(directory.path, { recursive: true });
});

async function problems(): Promise<readonly string[]> {
  return (await replayDirectory(directory.path)).problems;
}

describe("a directory of other data", () => {
  it("passes with one file, and reports the others as missing", async () => {
    directory.copy("jitter.json");
    const report = await replayDirectory(directory.path);
    expect(report.problems).toEqual([]);
    expect(report.missing).toContain("fakeclock.json");
    expect(reportLines(report)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^jitter\.json: 20 cases, \d+ compared values, \d+ of them as in Go$/,
        ),
        expect.stringMatching(/^missing: backoff-step\.json, exponential-manager\.json, /),
        "20 cases: as in Go, or by a rule",
      ]),
    );
  });

  it("may contain explanations", async () => {
    directory.copy("jitter.json").write("README.md", "How they were recorded.");
    expect(await problems()).toEqual([]);
  });

  it("fails without anything to replay", async () => {
    expect(await problems()).toEqual([`nothing to replay in ${directory.path}`]);
  });

  it("fails if it does not exist", async () => {
    const { problems } = await replayDirectory(join(directory.path, "none"));
    expect(problems).toEqual([`nothing to replay in ${join(directory.path, "none")}`]);
  });
});

describe("a replay fails on unknown input", () => {
  it("a file", async () => {
    directory.copy("jitter.json").write("jittre.json", "{}");
    expect(await problems()).toEqual(["jittre.json: unknown file"]);
  });

  it("a format", async () => {
    directory.copy("jitter.json", ({ header }) => {
      header.format = "gold/jitter/2";
    });
    expect(await problems()).toContain(
      "jitter.json: the header must have format gold/jitter/1, got gold/jitter/2",
    );
  });

  it("a section", async () => {
    directory.copy("jitter.json", (golden) => {
      golden.more = [];
    });
    expect(await problems()).toContain("jitter.json: unknown section more");
  });

  it("a field of a case, and of its input", async () => {
    directory.copy("backoff-step.json", ({ cases }) => {
      cases[3].in.minimum = 5;
      cases[3].name = "three";
    });
    expect(await problems()).toEqual([
      "backoff-step.json cases, case 3: unknown field in.minimum, name",
    ]);
  });

  it("a kind of case", async () => {
    directory.copy("exponential-manager.json", ({ exponential, delayWithReset }) => {
      exponential[1].kind = "linear";
      delayWithReset[2].kind = "delayWithJitter";
    });
    expect(await problems()).toEqual([
      "exponential-manager.json exponential, case 1: unknown kind linear",
      "exponential-manager.json delayWithReset, case 2: unknown kind delayWithJitter",
    ]);
  });

  it("a kind of manager", async () => {
    directory.copy("backoff-until.json", ({ cases }) => {
      cases[4].in.manager.kind = "constant";
    });
    expect(await problems()).toEqual(["backoff-until.json cases, case 4: unknown kind constant"]);
  });

  it("a function", async () => {
    directory.copy("poll.json", ({ virtual }) => {
      virtual[0].in.api = "PollOnce";
    });
    directory.copy("exponential-backoff-condition.json", ({ cases, retry }) => {
      cases[0].in.api = "CubicBackoff";
      retry[0].in.api = "OnSuccess";
    });
    expect(await problems()).toEqual([
      "poll.json virtual, case 0: unknown function PollOnce",
      "exponential-backoff-condition.json cases, case 0: unknown function CubicBackoff",
      "exponential-backoff-condition.json retry, case 0: unknown function OnSuccess",
    ]);
  });

  it("an operation", async () => {
    directory.copy("realclock.json", ({ cases }) => {
      cases[5].ops[0][0] = "newAlarm";
    });
    expect(await problems()).toEqual(["realclock.json cases, case 5: unknown operation newAlarm"]);
    directory.copy("cenkalti.json", ({ cases }) => {
      cases[5].ops[0][0] = "pause";
    });
    expect(await problems()).toContain("cenkalti.json cases, case 5: unknown operation pause");
  });

  it("a result of an operation", async () => {
    directory.copy("cenkalti.json", ({ retry }) => {
      retry[0].in.results[0] = "late";
    });
    expect(await problems()).toEqual(["cenkalti.json retry, case 0: unknown result late"]);
  });

  it("a field of a result", async () => {
    directory.copy("fakeclock.json", ({ cases }) => {
      cases[0].res[1].skipped = 1;
    });
    expect(await problems()).toEqual([
      "fakeclock.json cases, case 0, res[1].skipped: want 1, got nothing, and by no rule",
    ]);
  });
});

describe("a replay fails on data that are not whole", () => {
  it("fewer cases than the header counts", async () => {
    directory.copy("jitter.json", ({ cases }) => {
      cases.pop();
    });
    expect(await problems()).toContain("jitter.json: cases has 19 cases; its header says 20");
  });

  it("a missing section", async () => {
    directory.copy("exponential-manager.json", (golden) => {
      delete golden.jittered;
    });
    expect(await problems()).toContain("exponential-manager.json: section jittered is missing");
  });

  it("a file that does not match SHA256SUMS", async () => {
    directory.write("jitter.json", readData(shipped, "jitter.json").toString());
    const lines = readFileSync(join(shipped, "SHA256SUMS"), "utf8").split("\n");
    const ofJitter = lines.filter((line) => line.endsWith(" jitter.json"));
    writeFileSync(join(directory.path, "SHA256SUMS"), ofJitter.join("\n"));
    expect(await problems()).toEqual([]);
    appendFileSync(join(directory.path, "jitter.json"), " ");
    expect(await problems()).toEqual(["jitter.json: does not match SHA256SUMS"]);
  });
});

interface Altered {
  readonly file: string;
  /** Where the recorded value stands. */
  readonly path: readonly (string | number)[];
  readonly to: unknown;
  readonly problem: string;
}

describe("an altered value is found", () => {
  it.each<Altered>([
    {
      file: "backoff-step.json",
      path: ["cases", 1, "step", 3],
      to: 900512865,
      problem: "backoff-step.json cases, case 1, step[3]: want 900512865, got 900512864",
    },
    {
      file: "backoff-step.json",
      path: ["cases", 1, "stepsAfter", 19],
      to: 1,
      problem: "backoff-step.json cases, case 1, stepsAfter[19]: want 1, got 0",
    },
    {
      file: "jitter.json",
      path: ["cases", 2, "out"],
      to: 7,
      problem: "jitter.json cases, case 2, out: want 7, got 0",
    },
    {
      file: "exponential-manager.json",
      path: ["exponential", 0, "fired", 1],
      to: 0,
      problem: "exponential-manager.json exponential, case 0, fired[1]: want 0, got 1",
    },
    {
      file: "backoff-until.json",
      path: ["cases", 0, "out", "returnedAt"],
      to: 1,
      problem: "backoff-until.json cases, case 0, returnedAt: want 1, got 0",
    },
    {
      file: "backoff-until.json",
      path: ["cases", 0, "out", "u", 0],
      to: 0.5,
      problem: "backoff-until.json cases, case 0, draws: want 1, got 0",
    },
    {
      file: "jpillora.json",
      path: ["forAttempt", 0, "out"],
      to: 100000001,
      problem: "jpillora.json forAttempt, case 0, out: want 100000001, got 100000000",
    },
    {
      file: "jpillora.json",
      path: ["sequences", 1, "attemptAfter"],
      to: 21,
      problem: "jpillora.json sequences, case 1, attemptAfter: want 21, got 20",
    },
    {
      file: "grpc.json",
      path: ["cases", 1, "out", 3],
      to: 1877292944,
      problem: "grpc.json cases, case 1, out[3]: want 1877292944, got 1877292943",
    },
    {
      file: "cenkalti.json",
      path: ["cases", 0, "out", 1],
      to: 532505562,
      problem: "cenkalti.json cases, case 0, out[1]: want 532505562, got 532505561, and by no rule",
    },
    {
      file: "cenkalti.json",
      path: ["retry", 3, "out", "calls", 1],
      to: 512241068,
      problem: "cenkalti.json retry, case 3, calls[1]: want 512241068, got 512241069",
    },
    {
      file: "cenkalti.json",
      path: ["retry", 0, "out", "err"],
      to: "op",
      problem: "cenkalti.json retry, case 0, err: want op, got permanent",
    },
    {
      file: "poll.json",
      path: ["virtual", 1, "out", "calls", 2],
      to: 274757407,
      problem: "poll.json virtual, case 1, calls[2]: want 274757407, got 274757406",
    },
    {
      file: "poll.json",
      path: ["fakeClock", 8, "out", "arms", 1, "d"],
      to: 274757407,
      problem: "poll.json fakeClock, case 8, arms[1].d: want 274757407, got 274757406",
    },
    {
      file: "poll.json",
      path: ["timerKinds", 1, "kind"],
      to: "noop",
      problem: "poll.json timerKinds, case 1, kind: want noop, got fixed",
    },
    {
      file: "exponential-backoff-condition.json",
      path: ["retry", 2, "out", "err"],
      to: "waitTimeout",
      problem:
        "exponential-backoff-condition.json retry, case 2, err: want waitTimeout, got retriable",
    },
    {
      file: "flowcontrol-backoff.json",
      path: ["cases", 1, "res", 3, "d"],
      to: 1000000000,
      problem: "flowcontrol-backoff.json cases, case 1, res[3].d: want 1000000000, got 4000000000",
    },
    {
      file: "fakeclock.json",
      path: ["cases", 0, "res", 3, "fired", 0, 1],
      to: 2934885,
      problem:
        "fakeclock.json cases, case 0, res[3].fired[0][1]: want 2934885, got 2934884, and by no rule",
    },
    {
      file: "realclock.json",
      path: ["cases", 3, "res", 3, "cb", 0, 0],
      to: 2,
      problem: "realclock.json cases, case 3, res[3].cb[0][0]: want 2, got 1, and by no rule",
    },
  ])("$problem", async ({ file, path, to, problem }) => {
    directory.copy(file, (golden) => {
      const holder = path.slice(0, -1).reduce((value, key) => value[key], golden);
      holder[path.at(-1) ?? ""] = to;
    });
    expect(await problems()).toEqual([problem]);
  });
});

it("shows the first values of a failed case", async () => {
  directory.copy("backoff-step.json", ({ cases }) => {
    cases[1].step = cases[1].step.map((delay: number) => delay + 1);
  });
  const found = await problems();
  expect(found).toHaveLength(6);
  expect(found[4]).toBe("backoff-step.json cases, case 1, step[4]: want 900512865, got 900512864");
  expect(found[5]).toBe("backoff-step.json cases, case 1, and 15 more values");
});

describe("a rule that is no longer needed fails the run", () => {
  function sectionOf(file: string): Section {
    const found = sections.find((section) => section.file === file);
    if (found === undefined) throw new Error(`no section of ${file}`);
    return found;
  }

  it("if Holdfast equals Go despite a rule", async () => {
    const section = sectionOf("jitter.json");
    const wrapping = readGolden("jitter.json").cases.find(
      ({ overflow, maxFactor }: { overflow?: boolean; maxFactor: number }) =>
        overflow === true && maxFactor > 0,
    );
    const asInGo: Section = {
      ...section,
      replay: (kase) => section.recorded(kase),
    };
    const { problems } = await checkCase(asInGo, wrapping);
    expect(problems).toEqual([
      `out: rule no-overflow is no longer needed: got ${wrapping.out}, as in Go`,
    ]);
  });

  it("if Go equals Holdfast despite a rule", async () => {
    const leaking = readGolden("backoff-until.json").cases.find(
      ({ out }: { out: { waitersLeft: number } }) => out.waitersLeft === 1,
    );
    leaking.out.waitersLeft = 0;
    const { problems } = await checkCase(sectionOf("backoff-until.json"), leaking);
    expect(problems).toEqual([
      "waitersLeft: rule no-leak-after-crash is no longer needed: got 0, as in Go",
    ]);
  });

  it("if a backoff keeps its own limits after all", async () => {
    const section = sectionOf("cenkalti.json");
    const kase = readGolden("cenkalti.json").cases.find(
      ({ in: go, ops, out }: { in: object; ops: string[][]; out: unknown[] }) =>
        "withMaxRetries" in go && ops[0]?.[0] === "next" && out[0] === -1,
    );
    const asInGo: Section = { ...section, replay: (kase) => section.recorded(kase) };
    const { problems } = await checkCase(asInGo, kase);
    expect(problems).toContain(
      "out[0]: rule limits-of-the-loop is no longer needed: got -1, as in Go",
    );
  });

  interface PollCase {
    readonly rule: string;
    readonly section: "virtual" | "fakeClock";
    readonly id: number;
    readonly problem: string;
  }

  it.each<PollCase>([
    {
      rule: "sliding-slides",
      section: "fakeClock",
      id: 1,
      problem:
        "calls[2]: rule sliding-slides, ticker-stops is no longer needed: got 343446757, as in Go",
    },
    {
      rule: "deprecated-polls",
      section: "virtual",
      id: 537,
      problem: "err: rule deprecated-polls is no longer needed: got waitTimeout, as in Go",
    },
  ])("if a poll does what Go does after all: $rule", async ({ section: name, id, problem }) => {
    const section = sections.find(({ file, name: its }) => file === "poll.json" && its === name);
    const kase = readGolden("poll.json")[name].find((found: { id: number }) => found.id === id);
    const asInGo = { ...section, replay: () => section?.recorded(kase) } as Section;
    const { problems } = await checkCase(asInGo, kase);
    expect(problems).toContain(problem);
  });

  it("if it makes no difference in any case of the whole data", async () => {
    const section = sectionOf("realclock.json");
    const report = await replaySection(section, readGolden("realclock.json").cases.slice(0, 1));
    expect(unusedRules([report])).toContain(
      "realclock.json cases: rule fired-is-fired is no longer needed at all",
    );
    expect(unusedRules([report])).toContain("rule no-overflow is no longer needed at all");
  });
});

describe("the results of Holdfast where a rule applies", () => {
  it("match the rule", async () => {
    const section = sections.find(({ name }) => name === "jittered");
    const negative = readGolden("exponential-manager.json").jittered[3];
    const silent = { ...section, replay: () => ({ rejected: [] }) } as Section;
    const { problems } = await checkCase(silent, negative);
    expect(problems).toEqual([
      "rejected[0]: rule rejected-at-the-door is no longer needed: got nothing, as in Go",
    ]);
  });
});

describe("the lists of files", () => {
  it("name every file of the golden data once", async () => {
    const named = [...new Set(sections.map(({ file }) => file))];
    const sums = readFileSync(join(shipped, "SHA256SUMS"), "utf8");
    const recorded = [...sums.matchAll(/ {2}(\S+)$/gm)].map(([, name]) => name);
    expect(named).toHaveLength(recorded.length);
    expect(new Set(named)).toEqual(new Set(recorded));
  });
});
