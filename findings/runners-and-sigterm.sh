#!/usr/bin/env bash
# Package: node 26.10.0, npm-run-all2 8.0.4, cross-env 10.1.0, env-cmd 11.0.0, dotenv-cli 11.0.0,
# tsx 4.23.15, bun 1.4.5, deno 2.9.6
# Guess: of the programs that start another one, `node --run` leaves it behind at SIGTERM; all others relay the signal and
# wait.
# Seen: run-p and cross-env-shell leave it behind, too; env-cmd relays the signal and does not wait.
. "$(dirname "$0")/lib.sh"
needs sh
node_of 26.10.0
packages npm-run-all2@8.0.4 cross-env@10.1.0 env-cmd@11.0.0 dotenv-cli@11.0.0 tsx@4.23.15 bun@1.4.5 deno@2.9.6
listener
cat >package.json <<'JSON'
{ "private": true, "type": "module", "scripts": { "serve": "node server.mjs" } }
JSON
: >.env
observe <<'JS'
import { relay } from "./relay.mjs";

await relay("node --run", process.execPath, "--run", "serve");
await relay("run-p", "run-p", "serve");
await relay("cross-env-shell", "cross-env-shell", "A=1", "node server.mjs");
await relay("cross-env", "cross-env", "A=1", "node", "server.mjs");
await relay("env-cmd", "env-cmd", "-f", ".env", "node", "server.mjs");
await relay("dotenv", "dotenv", "--", "node", "server.mjs");
await relay("tsx", "tsx", "server.mjs");
await relay("bun run", "bun", "run", "serve");
await relay("deno task", "deno", "task", "serve");
process.exit();
JS
expect <<'TEXT'
node --run: SIGTERM; program: no signal, left behind
run-p: SIGTERM; program: no signal, left behind
cross-env-shell: code 1; program: no signal, left behind
cross-env: code 0; program: SIGTERM, ended before
env-cmd: SIGTERM; program: SIGTERM, ended later
dotenv: code 0; program: SIGTERM, ended before
tsx: code 0; program: SIGTERM, ended before
bun run: code 0; program: SIGTERM, ended before
deno task: code 0; program: SIGTERM, ended before
TEXT
