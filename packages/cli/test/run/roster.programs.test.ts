import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "@holdfast/clock";
import { afterAll, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { isAlive, survivors } from "../../../../test/processes.ts";
import { processState } from "../../src/proc.ts";
import { Roster } from "../../src/run/machine/roster.ts";

const root = mkdtempSync(join(tmpdir(), "holdfast-test-"));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

const ALL = { clock: realClock };

/** A shell in a group of its own that has run the script up to its first line of output. */
async function shell(
  script: string,
  mark: Readonly<Record<string, string>> = {},
): Promise<{ pid: number; text: string }> {
  const child = spawn("sh", ["-c", script], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...mark },
  });
  children.push(child);
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  return { pid: child.pid ?? 0, text: `${text}` };
}

let rosters = 0;
function newRoster(): { directory: string; roster: Roster } {
  const directory = join(root, `${++rosters}`);
  return { directory, roster: new Roster(directory) };
}

describe.skipIf(process.platform !== "linux")("a roster", () => {
  it("ends processes that obey SIGTERM, and forgets them", async () => {
    const { directory, roster } = newRoster();
    const { pid } = await shell("trap 'exit 0' TERM; echo; while :; do sleep 0.02; done");
    roster.add(pid);
    // Were it to wait for the grace period, the test would never end.
    await roster.endLeftovers({ ...ALL, grace: Number.POSITIVE_INFINITY });
    expect(isAlive(pid)).toBe(false);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("kills the others, and their descendants", async () => {
    const { directory, roster } = newRoster();
    const script = "trap '' TERM; sleep 100 & echo $!; while :; do sleep 0.02; done";
    const { pid, text } = await shell(script);
    roster.add(pid);
    await roster.endLeftovers({ ...ALL, grace: 50 });
    expect(await survivors([pid, Number(text)])).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("stops waiting at once when aborted, and leaves the rest to others", async () => {
    const { directory, roster } = newRoster();
    const { pid } = await shell("trap '' TERM; echo; while :; do sleep 0.02; done");
    roster.add(pid);
    const stop = new AbortController();
    const reason = new Error("stopped");
    const { signal } = stop;
    const ended = roster.endLeftovers({ ...ALL, grace: Number.POSITIVE_INFINITY, signal });
    stop.abort(reason);
    await expect(ended).rejects.toBe(reason);
    expect(abortListeners(signal)).toBe(0);
    expect(readdirSync(directory)).toHaveLength(1);
  });

  it("kills the descendants of a process that exited", async () => {
    const { roster } = newRoster();
    const { pid, text } = await shell("sleep 100 > /dev/null & echo $!; exit 1");
    roster.add(pid);
    await survivors([pid]);
    await roster.endLeftovers({ ...ALL, grace: 50 });
    expect(await survivors([Number(text)])).toEqual([]);
  });

  it("ignores processes that only reuse a pid", async () => {
    const { directory, roster } = newRoster();
    const { pid } = await shell("echo; sleep 100");
    const { startTime = "" } = processState(pid) ?? {};
    writeFileSync(join(directory, `${pid}-${Number(startTime) - 1}`), "");
    await roster.endLeftovers({ ...ALL, grace: 0 });
    expect(isAlive(pid)).toBe(true);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("kills unlisted processes with its mark, and none with the mark of another", async () => {
    const { roster } = newRoster();
    const script = "setsid sleep 100 > /dev/null & echo $!; wait";
    const marks = [roster.mark, newRoster().roster.mark];
    const shells = await Promise.all(marks.map((mark) => shell(script, mark)));
    await roster.endLeftovers({ ...ALL, grace: 0 });
    const [gone = [], ...others] = shells.map(({ pid, text }) => [pid, Number(text)]);
    expect(await survivors(gone)).toEqual([]);
    expect(others.flat().filter(isAlive)).toHaveLength(2);
    for (const pid of others.flat()) process.kill(pid, "SIGKILL");
  });

  it("removes ended processes", async () => {
    const { directory, roster } = newRoster();
    const { pid } = await shell("echo; sleep 100");
    const entry = roster.add(pid);
    expect(readdirSync(directory)).toHaveLength(1);
    entry[Symbol.dispose]();
    entry[Symbol.dispose]();
    expect(readdirSync(directory)).toEqual([]);
  });
});
