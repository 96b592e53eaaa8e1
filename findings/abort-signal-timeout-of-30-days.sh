#!/usr/bin/env bash
# Package: Node 26.10.0, deno 2.9.6, bun 1.4.5
# Guess: `AbortSignal.timeout` of 30 days waits: its range is 2 ** 32 milliseconds in Node, more in the standard.
# Seen: in Node and Deno it aborts at once, with a TimeoutError, as its timer has 31 bits. Bun waits.
. "$(dirname "$0")/lib.sh"
packages deno@2.9.6 bun@1.4.5
node_of 26.10.0
cat >long.mjs <<'JS'
const signal = AbortSignal.timeout(30 * 24 * 60 * 60 * 1_000);
await new Promise((resolve) => setTimeout(resolve, 1_000));
const name = globalThis.Bun ? "Bun" : globalThis.Deno ? "Deno" : "Node";
console.log(`${name}: ${signal.aborted ? signal.reason.name : "waits"}`);
process.exit();
JS
observe <<'JS'
import { spawnSync } from "node:child_process";

for (const command of [[process.execPath], ["node_modules/.bin/deno", "run"], ["node_modules/.bin/bun"]])
  process.stdout.write(spawnSync(command[0], [...command.slice(1), "long.mjs"], { encoding: "utf8" }).stdout);
JS
expect <<'TEXT'
Node: TimeoutError
Deno: TimeoutError
Bun: waits
TEXT
