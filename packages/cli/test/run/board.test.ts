import { expect, it } from "vitest";
import { Board } from "../../src/run/view/board.ts";
import { forOthers } from "../../src/run/web/snapshot.ts";
import { FakeSupervisor } from "./fake-supervisor.ts";

const MANIFEST = `
backoff: { duration: 1s, factor: 2, cap: 4s, jitter: 0, resetAfter: 10s }
processes:
  web: { command: web, readiness: { http: 80 } }
  crasher: { command: crash, backoff: { jitter: 0.5 } }
  job: { command: job, restart: OnFailure }
`;

/** A supervisor with a board, and how often the board says that something has changed. */
function watched(answers = true) {
  const fake: FakeSupervisor = new FakeSupervisor(
    {
      crash: () => ({ runs: 0, exit: { kind: "code", code: 1, words: "no config" } }),
      job: () => ({ runs: 10, exit: { kind: "code", code: 0 } }),
    },
    {
      probe: () => async () => {
        if (!answers) throw new Error("HTTP 503");
      },
      report: (event, statuses) => board.show(event, statuses),
    },
  );
  const board = new Board({
    clock: fake.clock,
    file: "test.yaml",
    linesOf: (name) => [`${name} says`],
  });
  board.follow(fake.supervisor);
  return { fake, board };
}

it("shows every process in the order of the manifest", async () => {
  const { fake, board } = watched();
  const start = fake.clock.now();
  fake.apply(MANIFEST);
  await fake.clock.step(100);
  const { log, ...snapshot } = board.snapshot();
  const pending = fake.statuses.get("crasher")?.waits[0]?.planned ?? 0;
  expect(snapshot).toEqual({
    at: start + 100,
    file: "test.yaml",
    pid: process.pid,
    processes: [
      {
        name: "web",
        phase: "Running",
        ready: true,
        reason: undefined,
        pid: 101,
        restarts: 0,
        waits: [],
        lastExit: undefined,
        lastWords: undefined,
        output: ["web says"],
        spans: [{ at: start, look: "ready", text: "ready" }],
        nextStart: undefined,
        cap: 4_000,
      },
      {
        name: "crasher",
        phase: "CrashLoopBackOff",
        ready: undefined,
        reason: undefined,
        pid: undefined,
        restarts: 0,
        lastExit: "code 1 after 0ms",
        lastWords: "no config",
        output: ["crasher says"],
        spans: [{ at: start, look: "waiting", text: "waiting" }],
        nextStart: expect.closeTo(start + pending, 3) as number,
        waits: [{ planned: pending, measured: undefined }],
        cap: 6_000,
      },
      {
        name: "job",
        phase: "Completed",
        ready: undefined,
        reason: undefined,
        pid: undefined,
        restarts: 0,
        lastExit: "code 0 after 10ms",
        lastWords: undefined,
        output: ["job says"],
        spans: [
          { at: start, look: "running", text: "running" },
          { at: start + 10, look: "down", text: "down" },
        ],
        nextStart: undefined,
        waits: [],
        cap: 4_000,
      },
    ],
  });
  expect(log.map(({ at, name, text }) => [at - start, name, text])).toEqual([
    [0, undefined, "test.yaml: start web, crasher, job"],
    [0, "web", "Running, pid 101"],
    [0, "crasher", "Running, pid 102"],
    [0, "web", "ready: http://127.0.0.1:80/ answers"],
    [0, "job", "Running, pid 103"],
    [0, "crasher", expect.stringMatching(/^CrashLoopBackOff, restart 1 in /)],
    [10, "job", "Completed: code 0 after 10ms"],
  ]);
});

it("shows the order of the latest manifest, then processes that leave it", async () => {
  const { fake, board } = watched();
  const names = (): string[] => board.snapshot().processes.map(({ name }) => name);
  fake.apply("processes: { a: { command: web }, b: { command: web } }");
  await fake.clock.step(0);
  fake.apply("processes: { c: { command: web }, b: { command: web } }");
  const leaving = names();
  await fake.clock.step(0);
  expect([leaving, names()]).toEqual([
    ["b", "a"],
    ["c", "b"],
  ]);
});

it("reports a change to current listeners", async () => {
  const { fake, board } = watched();
  let changes = 0;
  const listening = board.onChange(() => changes++);
  fake.apply("processes: { a: { command: web } }");
  const applied = changes;
  listening[Symbol.dispose]();
  await fake.clock.step(0);
  expect([applied, changes]).toEqual([1, 1]);
});

it("is ready when all processes with a readiness check are", async () => {
  const { fake, board } = watched(false);
  fake.apply(MANIFEST);
  await fake.clock.step(0);
  expect(board.ready.problem()).toBe("web not ready");
  expect(board.alive.problem()).toBeUndefined();
});

it("keeps the latest fifty lines", async () => {
  const { fake, board } = watched();
  fake.apply("processes: { crasher: { command: crash, backoff: { duration: 1s, cap: 1s } } }");
  await fake.clock.step(100_000);
  const { log } = board.snapshot();
  expect(log).toHaveLength(50);
  expect(log.at(-1)?.text).toMatch(/^CrashLoopBackOff, restart 101 in 1s/);
});

it("keeps the times of a process: waiting, running, ready and down", async () => {
  const { fake, board } = watched();
  const start = fake.clock.now();
  fake.apply(`
processes:
  a: { command: crash, backoff: { duration: 2s, factor: 2, cap: 8s, jitter: 0 } }
  b: { command: web, readiness: { http: 80 } }
`);
  await fake.clock.step(7_000);
  fake.supervisor.stop("b");
  await fake.clock.step(1_000);
  const lines = board
    .snapshot()
    .processes.map(({ name, spans }) => [name, spans.map(({ at, look }) => [at - start, look])]);
  // Each delay has a span of its own, also after a life that took no time.
  expect(lines).toEqual([
    [
      "a",
      [
        [0, "waiting"],
        [2_000, "waiting"],
        [6_000, "waiting"],
      ],
    ],
    [
      "b",
      [
        [0, "ready"],
        [7_000, "down"],
      ],
    ],
  ]);
});

it("shows other users nothing that a process prints", async () => {
  const { fake, board } = watched();
  fake.apply(MANIFEST);
  await fake.clock.step(100);
  const text = JSON.stringify(forOthers(board.snapshot()));
  expect(JSON.stringify(board.snapshot())).toMatch(
    /no config.*crasher says|crasher says.*no config/,
  );
  expect(text).toContain("code 1 after 0ms");
  expect(text).not.toMatch(/no config|says/);
});
