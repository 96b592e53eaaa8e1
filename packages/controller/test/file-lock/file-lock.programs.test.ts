import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";
import type { Versioned } from "@holdfast/controller";
import { FileLock } from "@holdfast/controller/file-lock";
import { afterAll, expect, inject, it } from "vitest";

// Processes, files and time are real here. Nothing has an upper bound but patience.

const ELECTOR = fileURLToPath(new URL("./elector-process.mjs", import.meta.url));

/** `KILLS=50` for a night. */
const KILLS = Number(process.env["KILLS"] ?? (inject("isThorough") ? 5 : 2));

/** Milliseconds. */
const LEASE = 1_000;
const PATIENCE = 120_000;

/** What a leader says while it leads. */
interface Beat {
  readonly token: number;
  readonly at: number;
  readonly pid: number;
}

const directory = mkdtempSync(join(tmpdir(), "holdfast-test-"));
const children = new Set<ChildProcess>();
const beats: Beat[] = [];
let heard: () => void = () => {};

afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

function start(): void {
  const child = fork(ELECTOR, [directory, `${LEASE}`], { execArgv: [] });
  children.add(child);
  child.on("message", (message: { token: number; at: number }) => {
    beats.push({ ...message, pid: child.pid ?? 0 });
    heard();
  });
}

/** The first beat after those before `from` that `isIt`. */
async function beat(from: number, isIt: (beat: Beat) => boolean): Promise<Beat> {
  const patience = realClock.newTimer(PATIENCE);
  for (;;) {
    const found = beats.slice(from).find(isIt);
    if (found !== undefined) {
      patience.stop();
      return found;
    }
    const news = new Promise<boolean>((resolve) => {
      heard = () => resolve(false);
    });
    if (await Promise.race([news, patience.fired])) throw new Error("nobody leads");
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
  children.delete(child);
}

function childOf({ pid }: Beat): ChildProcess {
  const child = [...children].find((candidate) => candidate.pid === pid);
  if (child === undefined) throw new Error(`process ${pid} is dead and leads`);
  return child;
}

/** Whether the terms follow one another: each has one leader, and begins when the one before is over. */
function faultsOf(all: readonly Beat[]): string[] {
  const sorted = [...all].sort((a, b) => a.at - b.at);
  return sorted.flatMap((next, index) => {
    const before = sorted[index - 1];
    if (before === undefined || before.token < next.token) return [];
    if (before.token === next.token && before.pid === next.pid) return [];
    return [`${next.pid} leads with ${next.token} after ${before.pid} with ${before.token}`];
  });
}

/** The last to end may have died in the middle of a write, as they exit when they are told to. */
async function writeTwice(): Promise<void> {
  const lock = new FileLock(directory);
  const { signal } = new AbortController();
  for (let write = 0; write < 2; write++) {
    const { record, version } = (await lock.get(signal)) as Versioned;
    await lock.update(record, version, signal);
  }
}

it(`one of three processes leads on a file lock, through ${KILLS} times kill -9`, {
  timeout: (KILLS + 2) * PATIENCE,
}, async () => {
  for (let i = 0; i < 3; i++) start();
  const gaps: number[] = [];
  let leader = await beat(0, () => true);
  for (let kill = 0; kill < KILLS; kill++) {
    const { token } = leader;
    await realClock.sleep((kill * 37) % 100);
    const killed = Number(process.hrtime.bigint()) / 1e6;
    await end(childOf(leader), "SIGKILL");
    start();
    leader = await beat(beats.length - 1, (next) => next.token > token);
    gaps.push(leader.at - killed);
  }
  for (const child of [...children]) {
    const isLast = children.size === 1;
    const from = beats.length;
    await end(child, "SIGTERM");
    if (!isLast) await beat(from, ({ pid }) => pid !== child.pid);
  }
  expect(faultsOf(beats)).toEqual([]);
  expect(new Set(beats.map(({ token }) => token)).size).toBeGreaterThan(KILLS);
  // Killed leaders hand over by the end of their lease, which began before they were killed.
  expect(Math.max(...gaps)).toBeGreaterThan(0.3 * LEASE);
  // What the dead left is gone when others have written: two versions of the record are there, and
  // nothing else.
  await writeTwice();
  expect(readdirSync(directory).map((name) => name.replace(/^\d+/, "n"))).toEqual([
    "n.json",
    "n.json",
  ]);
  if (process.env["KILLS"]) console.log({ KILLS, beats: beats.length, longest: Math.max(...gaps) });
});

it("detects two leaders", () => {
  const alone = [1, 2, 3].map((at) => ({ token: 0, at, pid: 1 }));
  expect(faultsOf(alone)).toEqual([]);
  expect(faultsOf([...alone, { token: 1, at: 2.5, pid: 2 }])).toEqual([
    "1 leads with 0 after 2 with 1",
  ]);
  expect(faultsOf([...alone, { token: 0, at: 4, pid: 2 }])).toEqual([
    "2 leads with 0 after 1 with 0",
  ]);
});

it("a process that stands still past its lease does not lead when it continues", {
  timeout: 3 * PATIENCE,
}, async () => {
  const from = beats.length;
  for (let i = 0; i < 2; i++) start();
  const first = await beat(from, () => true);
  childOf(first).kill("SIGSTOP");
  const second = await beat(from, ({ token }) => token > first.token);
  expect(second.pid).not.toBe(first.pid);
  childOf(first).kill("SIGCONT");
  const after = beats.length;
  // It stands by: it takes over when the second one ends, with a token of its own.
  await end(childOf(second), "SIGTERM");
  const third = await beat(after, ({ token }) => token > second.token);
  expect(third.pid).toBe(first.pid);
  await end(childOf(third), "SIGTERM");
  expect(faultsOf(beats)).toEqual([]);
});
