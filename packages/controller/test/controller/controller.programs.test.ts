import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

// Real processes on the built packages. The timeout ends a process that hangs; no test asserts a speed.

const PROGRAM = fileURLToPath(new URL("./controller-process.mjs", import.meta.url));

/** The lines that the program prints, and its exit code. Sends SIGTERM at the line `termAt`. */
async function run(scenario: string, termAt?: string): Promise<unknown[]> {
  const child = spawn(process.execPath, [PROGRAM, scenario], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 90_000,
    killSignal: "SIGKILL",
  });
  const exited = once(child, "exit");
  const lines: unknown[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (line === termAt) child.kill("SIGTERM");
  }
  const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  return [...lines, code ?? signal];
}

it("keeps the process alive until the run ends", async () => {
  expect(await run("held")).toEqual(["stopped", "event loop empty", 0]);
});

it("lets the process exit during a run with ref: false", async () => {
  expect(await run("unheld")).toEqual(["event loop empty", 0]);
});

it("receives SIGTERM while a reconciler adds its own key forever", async () => {
  expect(await run("busy", "busy")).toEqual(["busy", "SIGTERM", "stopped", "event loop empty", 0]);
});
