import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, inject, it } from "vitest";
import { judge } from "../claims.mjs";
import { exitCodeOf } from "../exit-code.mjs";
import { isNeeded, planOf } from "../plan.mjs";
import { report } from "../report.mjs";
import { run } from "../run.mjs";
import { suites } from "../suites/index.mjs";
import { resultOf } from "../suites/kubernetes/operating.mjs";

const main = fileURLToPath(new URL("../main.mjs", import.meta.url));
// The contenders run in plain Node, which needs what `tsc -b` writes.
const built = existsSync(new URL("../../packages/wait/dist/index.js", import.meta.url));

describe("npm run bench", () => {
  it("plans every contender once per size and says which it leaves out", () => {
    const { jobs, skipped } = planOf(suites, { only: ["b"], quick: false });
    const count = ({ case: kase, size }: { case: string; size: number }): string =>
      `${kase} ${size}`;
    const own = jobs.filter((job) => job.case === "own");

    expect(new Set(jobs.map(count))).toEqual(
      new Set(["shared 10000", "shared 20000", "shared 40000", "shared 100000", "own 40000"]),
    );
    expect(new Set(own.map((job) => job.contender)).size).toBe(own.length);
    expect(skipped.map((job) => `${count(job)} ${job.contender}`)).toContain(
      "shared 100000 node:timers/promises",
    );
  });

  it("names skipped cases with the reason if there is no database or client-go", () => {
    const options = { only: ["i"], quick: true, rounds: 1 };
    const { jobs, skipped } = planOf(suites, options, {
      PostgreSQL: "none here",
      MariaDB: "none here",
    });
    expect(new Set(jobs.map((job) => job.case))).toEqual(
      new Set(["memory", "embedded", "due embedded"]),
    );
    expect(new Set(skipped.map((job) => job.case))).toEqual(
      new Set([
        "server",
        ...["due", "hung", "keys", "sent"].flatMap((one) => [one, `${one} MariaDB`]),
      ]),
    );

    const machine = { cpu: "", cores: 1, memoryGiB: 1, platform: "", node: "", v8: "" };
    const facts = { machine, versions: {}, services: [], loads: [], verdicts: [], suites, options };
    expect(report({ ...facts, results: [], skipped })).toContain(
      "outbox and relay left out at this size: none here",
    );
    const withoutGo = planOf(suites, { ...options, only: ["e"] }, { "client-go": "not built" });
    expect(new Set(withoutGo.skipped.map(({ contender }) => contender))).toEqual(
      new Set(["client-go", "client-go, keys are ints"]),
    );
    const serverless = { "Kubernetes API server": "not built" };
    const alone = planOf(suites, { ...options, only: ["m"] }, serverless);
    expect([alone.jobs, alone.skipped.map(({ because }) => because)]).toEqual([
      [],
      Array.from({ length: 4 }, () => "not built"),
    ]);
    expect(isNeeded("Kubernetes API server", suites, { only: ["m"] })).toBe(true);
    expect(isNeeded("PostgreSQL", suites, { only: ["a", "i"] })).toBe(true);
    expect(isNeeded("PostgreSQL", suites, { only: ["a", "h"] })).toBe(false);
  });

  it("goes on when a contender fails, says why, and runs a job no more often than its case allows", async () => {
    const job = { suite: "a", case: "plain", size: 1, contender: "nobody", milliseconds: 0 };
    const rounds: number[] = [];
    const results = await run([{ ...job, contender: "once", mostRounds: 1 }, job], {
      rounds: 3,
      onProgress: ({ round }: { round: number }) => rounds.push(round),
    });
    expect(rounds).toEqual([1, 1, 2, 3]);
    for (const { error } of results) expect(error).toMatch(/TypeError/);
  });

  it("fails with --quick if any contender does, and else if all do or a gate is missed", () => {
    const [good, bad] = [{}, { error: "TypeError: no" }];
    const missed = [{ gates: true, verdict: "missed" }];
    const codes = [
      [[good, bad], [], true],
      [[good, good], missed, true],
      [[good, bad], [], false],
      [[bad, bad], [], false],
      [[good, good], missed, false],
    ].map(([results, verdicts, quick]) => exitCodeOf({ results, verdicts, options: { quick } }));
    expect(codes).toEqual([1, 0, 0, 1, 1]);
  });

  it.runIf(built)("--quick exits with 1 and names the one contender that fails", async () => {
    const isBroken =
      'process.argv[1]?.endsWith("contender.mjs") && process.argv[5] === "GrpcBackoff"';
    const code = `if (${isBroken}) throw new Error("broken on purpose")`;
    const env = {
      ...process.env,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
    };
    const quick = promisify(execFile)(process.execPath, [main, "--quick", "--only", "g"], { env });
    const error = await quick.then(
      () => expect.fail("the run exits with 0"),
      (failure: { code: number; stdout: string }) => failure,
    );
    expect(error.code).toBe(1);
    expect(error.stdout.match(/^.* failed: .*$/gm)).toEqual([
      "GrpcBackoff failed: Error: broken on purpose",
    ]);
  });

  it("finds what an operator has measured among the lines of its log", () => {
    const result = { cpu: 1, wall: 2.5, rss: 3 };
    const line = JSON.stringify(result);
    const log = JSON.stringify({ level: "info", cpu: "1", message: "is the leader" });
    for (const text of [line, `${log}\n${line}\n`, `${line}\n${log}\nbye\n`, `${log}\r\n${line}`])
      expect(resultOf(text)).toEqual(result);
    expect(() => resultOf(`${log}\nbye\n`)).toThrow(/^no line with cpu, wall and rss in: .*bye/s);
  });

  it("judges no claim that was not measured", () => {
    expect(new Set(judge([]).map(({ verdict }) => verdict))).toEqual(new Set(["not measured"]));
  });

  it("gates on two promises alone, and judges no absolute time", () => {
    const gates = judge([]).filter((claim) => claim.gates);
    expect(gates.map(({ says }) => says.split(":")[0])).toEqual([
      "sleeps on one signal are linear",
      "sleeps on one signal are linear",
      "a failed attempt of retry costs at most 1.25 of a bare loop that a signal ends",
    ]);
    const judged = judge([]).filter(({ most, least }) => most !== undefined || least !== undefined);
    expect(judged.filter(({ says }) => / ns\b/.test(says))).toEqual([]);
  });

  // One of each kind, and on a build machine others of the same kinds.
  const others = [
    { suite: "e", case: "loop", contender: "fastq.promise and a Map", figures: ["ns/item"] },
    { suite: "f", case: "retry", contender: "rxjs retry", figures: ["ns/attempt"] },
    { suite: "f", case: "retry", contender: "effect", figures: ["ns/attempt"] },
    { suite: "f", case: "retry", contender: "retry, attemptTimeout", figures: ["ns/attempt"] },
    { suite: "f", case: "poll", contender: "p-wait-for, timeout", figures: ["ns/poll"] },
    { suite: "g", case: "walks", contender: "Backoff, full", figures: ["ns/delay"] },
    { suite: "h", case: "gzip", contender: "p-retry", figures: ["minified", "gzipped"] },
    {
      suite: "i",
      case: "memory",
      contender: "outbox and relay",
      figures: ["wall µs/message", "µs/message"],
    },
  ];
  it.runIf(built).each([
    { suite: "e", case: "loop", contender: "Controller", figures: ["ns/item"] },
    {
      suite: "f",
      case: "bytes",
      contender: "retry",
      figures: ["bytes/attempt", "kept bytes/attempt"],
    },
    {
      suite: "h",
      case: "gzip",
      contender: "retry",
      figures: ["minified", "gzipped", "added to the clock", "without the clock"],
    },
    ...(inject("isThorough") ? others : []),
  ])("measures $contender: $figures", async ({ figures, ...contender }) => {
    const { jobs } = planOf(suites, { only: [contender.suite], quick: true });
    const job = jobs.filter(
      (planned) => planned.case === contender.case && planned.contender === contender.contender,
    );
    const [result] = await run(job, { rounds: 1, onProgress: () => {} });
    expect(result?.error).toBeUndefined();
    expect(Object.keys(result?.figures ?? {})).toEqual(figures);
    expect(result?.figures[figures[0] ?? ""].best).toBeGreaterThan(0);
  });

  it("finds a row for each claim", () => {
    const { jobs } = planOf(suites, { only: suites.map(({ id }) => id), quick: false });
    const figures = new Proxy({}, { get: () => ({ best: 1 }) });
    const verdicts = judge(jobs.map((job) => ({ ...job, figures })));
    expect(verdicts.filter(({ verdict }) => verdict === "not measured")).toEqual([]);
  });

  it("explains its options when it gets a wrong one", async () => {
    const wrong = promisify(execFile)(process.execPath, [main, "--only", "z"]);
    await expect(wrong).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "--only takes a, b, c, d, e, f, g, h, i, k, l, m, n, o, p, got z",
      ),
    });
  });
});
