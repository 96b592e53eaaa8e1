#!/usr/bin/env node
import { createInterface } from "node:readline/promises";
import { realClock } from "@holdfast/clock";
import { main } from "@holdfast/kit/node";
import { connect } from "./connect.ts";
import { runCommand } from "./run-command.ts";

const stop = new AbortController();
const isPage = process.argv[2] === "page";
// The other commands end at once: each of their changes is one transaction.
if (isPage) for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());

async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}

await main((args, output) =>
  runCommand(args, {
    ...output,
    env: process.env,
    confirm: process.stdin.isTTY && process.stderr.isTTY ? confirm : undefined,
    connect,
    clock: realClock,
    signal: stop.signal,
  }),
);
