import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { survivors } from "../../../test/processes.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import { MAIN } from "./holdfast.ts";
import { manifestFile, Supervised } from "./run/supervised.ts";

/** Room of a pipe on Linux, in bytes. */
const PIPE = 65_536;

interface Stuck {
  readonly pid: number;
  /** The exit code. */
  readonly ended: () => Promise<number>;
}

/** Runs holdfast with a stream that is full, or with both as one, and that nobody reads. */
async function withoutReader(
  stream: "stdout" | "stderr" | "both",
  args: readonly string[],
  folder = tempFolder(onTestFinished),
): Promise<Stuck> {
  const files = { pid: join(folder, "pid"), code: join(folder, "code") };
  const streams = { stdout: "2>/dev/null", stderr: "2>&1 1>/dev/null", both: "2>&1" }[stream];
  const line = `{ head -c ${PIPE} /dev/zero; "$@" ${streams} </dev/null &
    echo $! > ${files.pid}; wait $!; echo $? > ${files.code}; } | exec sleep 1000`;
  const shell = spawn("sh", ["-c", line, "sh", process.execPath, MAIN, ...args], {
    stdio: "ignore",
    detached: true,
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
  });
  onTestFinished(() => void process.kill(-(shell.pid as number), "SIGKILL"));
  /** The number in a file, once it is written. */
  const numberIn = async (file: string): Promise<number> => {
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\n/);
    return Number(readFileSync(file, "utf8"));
  };
  return { pid: await numberIn(files.pid), ended: () => numberIn(files.code) };
}

/** A line for /bin/sh that says that it has started, and then goes on. */
function started(): { readonly line: string; readonly file: string } {
  const file = join(tempFolder(onTestFinished), "started");
  return { line: `touch ${file}; exec yes`, file };
}

const LOUD = "processes: { web: { command: [yes] } }";
const DOORS = [
  { stream: "stdout", name: "run", args: () => ["run", manifestFile(LOUD)] },
  { stream: "stderr", name: "run", args: () => ["run", manifestFile(LOUD)] },
  {
    stream: "stdout",
    name: "run --raw",
    args: () => ["run", "--raw", "--no-page", manifestFile(LOUD)],
  },
] as const;

describe("a reader that has stopped reading", () => {
  test.each(DOORS)("holds up no end of $name at SIGTERM: $stream", async ({ stream, args }) => {
    const { pid, ended } = await withoutReader(stream, args());
    await expect.poll(() => childrenOf(pid)).not.toEqual([]);
    const children = childrenOf(pid);
    process.kill(pid, "SIGTERM");
    expect(await ended()).toBe(143);
    expect(await survivors(children)).toEqual([]);
  });

  test("holds up no end of run after its time", async () => {
    const { ended } = await withoutReader("stdout", ["run", manifestFile(LOUD), "--for", "1s"]);
    expect(await ended()).toBe(0);
  });

  test.each([
    ["a wait", ["wait", "file:/nonexistent"], 143],
    ["a server", ["wait", "--server", "", "file:/nonexistent", "--", "true"], 143],
    ["a command after a wait", ["wait", "exec:true", "--shell", ""], 143],
    ["an attempt", ["retry", "--on-output", "/x/", "--shell", ""], 143],
  ])("holds up no end of %s at SIGTERM", async (_, words, code) => {
    const { line, file } = started();
    const { pid, ended } = await withoutReader(
      "stderr",
      words.map((word) => (word === "" ? `{ ${line}; } >&2` : word)),
    );
    if (words.includes("")) await expect.poll(() => existsSync(file)).toBe(true);
    else await caught(pid);
    process.kill(pid, "SIGTERM");
    expect(await ended()).toBe(code);
  });

  // A command makes the writes to its streams block, for all that share them.
  test.each([
    ["a command beside a server", ["wait", "--server", "LATE", "exec:true", "--shell", ""], 143],
    ["an attempt", ["retry", "--shell", ""], 143],
    ["an attempt whose stderr is looked at", ["retry", "--on-output", "/x/", "--shell", ""], 143],
  ])("holds up no end of %s that has it, too, at SIGTERM", async (_, words, code) => {
    const { line, file } = started();
    const late = `until test -e ${file}; do sleep 0.02; done; exec yes`;
    const { pid, ended } = await withoutReader(
      "both",
      words.map((word) => ({ "": `{ ${line}; } >&2`, LATE: late })[word] ?? word),
    );
    await expect.poll(() => existsSync(file)).toBe(true);
    process.kill(pid, "SIGTERM");
    expect(await ended()).toBe(code);
  });

  test("holds up no end at the deadline of a retry whose command has it, too", async () => {
    const args = ["retry", "--deadline", "50ms", "--shell", "yes >&2"];
    expect(await (await withoutReader("both", args)).ended()).toBe(124);
  });

  test("holds up no end at the time limit of a wait", async () => {
    const { ended } = await withoutReader("stderr", ["wait", "--timeout", "50ms", "file:/none"]);
    expect(await ended()).toBe(124);
  });

  test("holds up no end at the deadline of a retry", async () => {
    const args = ["retry", "--deadline", "50ms", "--on-output", "/x/", "--shell", "yes >&2"];
    expect(await (await withoutReader("stderr", args)).ended()).toBe(124);
  });

  test("is left by run logs at SIGTERM", async () => {
    const run = new Supervised(
      "processes: { web: { shell: 'head -c 500000 /dev/zero | tr \"\\0\" x; echo; exec sleep 1000' } }",
    );
    await run.printed(/x\n/);
    const logs = ["run", "logs", "web"];
    const { pid, ended } = await withoutReader("stdout", logs, dirname(run.file));
    await expect.poll(() => isBlocked(pid)).toBe(true);
    process.kill(pid, "SIGTERM");
    expect([0, 143]).toContain(await ended());
  });

  test("is left by retry --buffer at SIGTERM", async () => {
    const buffer = ["retry", "--buffer", "--shell", "head -c 1000000 /dev/zero"];
    const { pid, ended } = await withoutReader("stdout", buffer);
    await caught(pid);
    process.kill(pid, "SIGTERM");
    expect([0, 143]).toContain(await ended());
  });
});

/** The children of a process. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter(Boolean)
    .map(Number);
}

/** Whether a process waits for something, with its code loaded. */
function isBlocked(pid: number): boolean {
  const [, threads = "0"] =
    /^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(threads) > 1 && readFileSync(`/proc/${pid}/wchan`, "utf8").includes("epoll");
}

/** Resolves when a process catches SIGTERM. */
async function caught(pid: number): Promise<void> {
  const catches = (): boolean => {
    const [, mask = "0"] =
      /^SigCgt:\s+(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return ((BigInt(`0x${mask}`) >> 14n) & 1n) === 1n;
  };
  await expect.poll(catches).toBe(true);
}

describe("a slow reader", () => {
  const COUNT = 20;
  const LINES = 20_000;
  const names = Array.from({ length: COUNT }, (_, index) => `p${index}`);
  const yaml = `processes: {${names.map((name) => `${name}: { shell: 'seq ${LINES}', restart: Never }`).join(", ")}}`;

  /** Reads a little at a time. */
  async function readSlowly({ stdout }: ChildProcess): Promise<string> {
    let all = "";
    for await (const chunk of stdout ?? []) {
      all += String(chunk);
      await sleep(5);
    }
    return all;
  }

  test("gets every line of many processes, without a warning", async () => {
    const child = spawn(process.execPath, [MAIN, "run", manifestFile(yaml)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, XDG_RUNTIME_DIR: tempFolder(onTestFinished) },
    });
    const [out, errors, [code]] = await Promise.all([
      readSlowly(child),
      text(child.stderr),
      once(child, "close"),
    ]);
    expect(code).toBe(0);
    expect(errors.split("\n").filter((line) => line && !line.startsWith("holdfast: "))).toEqual([]);
    expect(out.split("\n")).toHaveLength(COUNT * LINES + 1);
  });

  test("gets all that a server prints, and that an attempt of retry prints on stderr", async () => {
    const out = join(tempFolder(onTestFinished), "out");
    writeFileSync(out, "");
    const loud = `seq ${LINES * 5} >&2`;
    for (const args of [
      [
        "wait",
        "--server",
        `${loud}; touch ${out}.up; exec sleep 1000`,
        `file:${out}.up`,
        "--shell",
        "exit 3",
      ],
      ["retry", "--on-output", "/x/", "--shell", `${loud}; exit 3`],
    ]) {
      const line = `"$@" 2>&1 | { sleep 1; cat; }`;
      const child = spawn("sh", ["-c", line, "sh", process.execPath, MAIN, ...args]);
      const all = (await text(child.stdout)).split("\n").filter((word) => /^\d+$/.test(word));
      expect(all).toHaveLength(LINES * 5);
    }
  });
});
