import { expect, it } from "vitest";
import { type Frame, frameLines } from "../../src/run/view/frame.ts";
import { createPalette } from "../../src/run/view/palette.ts";
import { widthOf } from "../../src/run/view/text.ts";
import type { Program } from "./fake-process-table.ts";
import { FakeSupervisor } from "./fake-supervisor.ts";

const palette = createPalette(false);

const programs: Readonly<Record<string, Program>> = {
  crash: () => ({ runs: 50, exit: { kind: "code", code: 3, words: "no config" } }),
  job: () => ({ runs: 500, exit: { kind: "code", code: 0 } }),
};

const MANIFEST = `
backoff: { duration: 2s, cap: 2s, resetAfter: 10s }
processes:
  web: { command: web, readiness: { http: 80 } }
  crasher: { command: crash }
  job: { command: job, restart: OnFailure }
`;

async function frameAt(time: number): Promise<Frame> {
  const fake = new FakeSupervisor(programs);
  const start = fake.clock.monotonic();
  fake.apply(MANIFEST);
  await fake.clock.step(time);
  return {
    file: "my.yaml",
    hint: "Ctrl-C stops",
    statuses: fake.statuses,
    problems: [],
    recent: [
      { elapsed: 0, who: "web", text: "Running, pid 101", tone: "good" },
      { elapsed: 50, who: "crasher", text: "CrashLoopBackOff, restart 1 in 2s", tone: "warning" },
    ],
    now: fake.clock.monotonic(),
    start,
    duration: 20_000,
  };
}

it("shows phase, readiness, pid, restarts, last exit and the countdown", async () => {
  expect(frameLines(await frameAt(1_000), { columns: 100, rows: 20, palette })).toEqual([
    "my.yaml  1s of 20s · Ctrl-C stops",
    "",
    "NAME     PHASE             READY      PID  RESTARTS  LAST EXIT           NEXT START",
    "web      Running           yes        101         0  -                   -",
    "crasher  CrashLoopBackOff  -            -         0  code 3 after 50ms   in 2s",
    "job      Completed         -            -         0  code 0 after 500ms  -",
    "",
    "00:00.000  web      Running, pid 101",
    "00:00.050  crasher  CrashLoopBackOff, restart 1 in 2s",
  ]);
});

it("counts down in whole seconds, to 1", async () => {
  const cells = [];
  for (const time of [51, 1_049, 1_051, 2_049, 2_050]) {
    const [, , , , crasher = ""] = frameLines(await frameAt(time), {
      columns: 100,
      rows: 20,
      palette,
    });
    cells.push(crasher.slice(crasher.lastIndexOf("  ") + 2));
  }
  expect(cells).toEqual(["in 2s", "in 2s", "in 1s", "in 1s", "-"]);
});

it("keeps the errors of the manifest in sight, in full", async () => {
  const frame = await frameAt(1_000);
  const problems = ["my.yaml:1:8: grace is 3; expected a duration above 0, such as 500ms"];
  const lines = frameLines({ ...frame, problems }, { columns: 60, rows: 20, palette });
  expect(lines.slice(-6)).toEqual([
    "",
    "my.yaml:1:8: grace is 3; expected a duration above 0, such",
    "as 500ms",
    "",
    "00:00.000  web      Running, pid 101",
    "00:00.050  crasher  CrashLoopBackOff, restart 1 in 2s",
  ]);
});

it.each([
  { columns: 83, want: "NAME PHASE READY PID RESTARTS LAST EXIT NEXT START" },
  { columns: 82, want: "NAME PHASE READY PID RESTARTS NEXT START" },
  { columns: 60, want: "NAME PHASE READY RESTARTS NEXT START" },
  { columns: 50, want: "NAME PHASE RESTARTS NEXT START" },
  { columns: 40, want: "NAME PHASE NEXT START" },
  { columns: 30, want: "NAME PHASE" },
])("shows $want in $columns columns", async ({ columns, want }) => {
  const lines = frameLines(await frameAt(1_000), { columns, rows: 20, palette });
  expect(lines[2]?.split(/ {2,}/).join(" ")).toBe(want);
  expect(Math.max(...lines.map((line) => widthOf(line)))).toBeLessThanOrEqual(columns);
});

it.each([
  { rows: 9, want: 9, last: "00:00.050  crasher  CrashLoopBackOff, restart 1 in 2s" },
  { rows: 8, want: 8, last: "00:00.050  crasher  CrashLoopBackOff, restart 1 in 2s" },
  { rows: 7, want: 7, last: "" },
  { rows: 5, want: 5, last: "… 3 more lines" },
])("fits $rows rows", async ({ rows, want, last }) => {
  const lines = frameLines(await frameAt(1_000), { columns: 100, rows, palette });
  expect(lines).toHaveLength(want);
  expect(lines.at(-1)).toBe(last);
});
