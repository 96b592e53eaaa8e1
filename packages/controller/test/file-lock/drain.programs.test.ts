import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { overlapsIn, type WorkEvent } from "../election/work-log.ts";

// Processes, files and time are real here. The tests compare the order of events, never their times.

const PROCESS = fileURLToPath(new URL("./draining-process.mjs", import.meta.url));

interface Times {
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly keyTime: number;
}

let directory: string;
let children: ChildProcess[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    const exited = child.exitCode === null && child.signalCode === null && once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
  rmSync(directory, { recursive: true, force: true });
});

const logFile = () => join(directory, "log");

function start(worker: string, times: Times): ChildProcess {
  const args = [join(directory, "lock"), logFile(), worker, JSON.stringify(times)];
  const child = fork(PROCESS, args, { execArgv: [] });
  children.push(child);
  return child;
}

/** The next key that a process begins. */
const begins = (child: ChildProcess): Promise<unknown[]> => once(child, "message");

function readLog(): WorkEvent[] {
  const lines = readFileSync(logFile(), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as WorkEvent);
}

const eventsOf = (worker: string, log: readonly WorkEvent[]): string[] =>
  log.filter((line) => line.worker === worker).map(({ event, key }) => `${event} ${key}`);

it("a process that drains for longer than its lease hands over when its key is done", async () => {
  const times = { leaseDuration: 4_000, renewDeadline: 3_800, keyTime: 6_000 };
  const a = start("a", times);
  await begins(a);
  const b = start("b", times);
  const exited = once(a, "exit");
  a.kill("SIGTERM");
  await begins(b);
  expect(await exited).toEqual([0, null]);
  const log = readLog();
  // The other keys are for the next leader.
  expect(eventsOf("a", log)).toEqual(["begin 1", "end 1"]);
  expect(overlapsIn(log)).toEqual([]);
});

it("a process that loses its lock while it drains drops its key before another one begins", async () => {
  // Between the deadline and the end of the lease there is time for a machine that stands still.
  const times = { leaseDuration: 5_500, renewDeadline: 1_500, keyTime: 600_000 };
  const a = start("a", times);
  await begins(a);
  const b = start("b", times);
  const exited = once(a, "exit");
  a.send("away");
  a.kill("SIGTERM");
  await begins(b);
  expect(await exited).toEqual([0, null]);
  const log = readLog();
  expect(eventsOf("a", log)).toEqual(["begin 1", "end 1"]);
  expect(overlapsIn(log)).toEqual([]);
});
