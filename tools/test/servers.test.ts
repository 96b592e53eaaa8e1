import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { survivors } from "../../test/processes.ts";

const STARTER = fileURLToPath(new URL("server-starter.mjs", import.meta.url));

interface Started {
  readonly pid: number;
  readonly server: number;
  readonly directory: string;
}

let shell: ChildProcess | undefined;
let started: Started | undefined;

afterEach(() => {
  for (const pid of [shell?.pid, started?.pid, started?.server])
    try {
      if (pid !== undefined) process.kill(pid, "SIGKILL");
    } catch {
      // It has ended, as it should.
    }
});

/** Starts a server by a program, and the program by a shell, as npm does. */
async function start(): Promise<readonly [shell: number, Started]> {
  const line = `true && "${process.execPath}" "${STARTER}"; exit $?`;
  shell = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "inherit"] });
  const [text] = await once(createInterface(shell.stdout as NodeJS.ReadableStream), "line");
  started = JSON.parse(text) as Started;
  return [shell.pid as number, started];
}

describe("the servers of a program, and their directories, are gone after", () => {
  it.each(["SIGHUP", "SIGINT", "SIGTERM"])("%s to the program", async (signal) => {
    const [, { pid, server, directory }] = await start();
    process.kill(pid, signal);
    expect(await survivors([pid, server])).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  });

  it.each(["SIGHUP", "SIGTERM", "SIGKILL"])("%s to its shell", async (signal) => {
    const [parent, { pid, server, directory }] = await start();
    process.kill(parent, signal);
    expect(await survivors([parent, pid, server])).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  });
});
