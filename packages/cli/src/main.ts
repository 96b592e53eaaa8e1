#!/usr/bin/env node
import { closeSync, readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { type Clock, realClock } from "@holdfast/clock";
import { main } from "@holdfast/kit/node";
import { CommanderError } from "commander";
import { type Cut, cutArguments } from "./arguments.ts";
import { EXIT } from "./exit-code.ts";
import { flushed, unblockTerminals } from "./output.ts";
import { printable } from "./printable.ts";
import { effectOf, onSignals, signalsWith } from "./signals.ts";
import { expectCalls } from "./system-call.ts";

const USAGE = `Usage: holdfast COMMAND [options]

  wait TARGET... [-- COMMAND...]   waits until ports, URLs, files, names or checks are ready, then runs COMMAND
  retry -- COMMAND...              runs COMMAND again until it succeeds
  run FILE                         runs the processes of a manifest and restarts them when they crash

holdfast COMMAND --help lists the options of a command.
`;

type Main = (cut: Cut, clock: Clock) => Promise<number>;

/** Each loads what it needs. */
const COMMANDS = new Map<string, () => Promise<Main>>([
  ["wait", async () => (await import("./wait.ts")).waitMain],
  ["retry", async () => (await import("./retry.ts")).retryMain],
  [
    "run",
    async () => {
      expectCalls(); // It will read a manifest.
      return (await import("./run/run.ts")).runMain;
    },
  ],
]);
function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

async function holdfast([name, ...args]: readonly string[]): Promise<number> {
  if (name === "--version") return print(`${version()}\n`);
  if (name === "--help" || name === "-h" || name === "help") return print(USAGE);
  const command = COMMANDS.get(name ?? "");
  if (command === undefined) {
    const got = name === undefined ? "" : `error: there is no command ${printable(name)}\n\n`;
    process.stderr.write(`${got}${USAGE}`);
    return EXIT.usage;
  }
  if (process.platform === "win32") {
    process.stderr.write("holdfast: Windows is not supported yet; use WSL\n");
    return EXIT.failed;
  }
  const run = await command();
  return await run(cutArguments(args), realClock);
}

function print(text: string): number {
  process.stdout.write(text);
  return EXIT.ok;
}

unblockTerminals();

// A terminal that has gone makes Node abort when it exits and wants to restore its settings, unless it is closed.
const terminals = [0, 1, 2].filter((fd) => isatty(fd));
process.once("exit", () => {
  for (const fd of terminals) {
    try {
      if (!isatty(fd)) closeSync(fd);
    } catch {
      // It is closed.
    }
  }
});

/** The exit code for an error of the tool, which is printed. */
function failed(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`holdfast: ${printable(message)}\n`);
  return EXIT.failed;
}

await main(
  (args) => holdfast(args).catch(failed),
  () => {
    // The command has ended: a signal that comes now, the second of one Ctrl-C perhaps, does not change the exit code.
    onSignals(signalsWith("stop", "end", "pass", "none"), (signal) => {
      if (["stop", "end"].includes(effectOf(signal))) process.exit();
    });
    return flushed(realClock);
  },
);
