#!/usr/bin/env bash
# Package: Node 26.10.0
# Guess: a response that arrived while the process was stopped, long before its time limit, wins when the process continues.
# Seen: the timers fire before the network is read: AbortSignal.timeout ends a fetch whose response waits in the socket.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
observe <<'JS'
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { serve, sleep } from "./kit.mjs";

let answered;
const isAnswered = new Promise((resolve) => (answered = resolve));
const server = await serve(async (_, response) => {
  child.kill("SIGSTOP");
  response.end("ok", answered);
});
writeFileSync("client.mjs", `
const [, , url] = process.argv;
let ticks = 0;
setInterval(() => ticks++, 500);
const signal = AbortSignal.timeout(3000);
await fetch(url, { signal }).then(async (r) => console.log(await r.text()), (error) => console.log(error.name));
await new Promise((resolve) => setTimeout(resolve, 250));
console.log("ticks of 500 ms in 6 s:", ticks < 6 ? "the missed ones are one" : ticks);
process.exit();
`);
const child = spawn(process.execPath, ["client.mjs", server.url], { stdio: ["ignore", "inherit", "inherit"] });
await isAnswered;
await sleep(6_000);
child.kill("SIGCONT");
await new Promise((resolve) => child.on("exit", resolve));
process.exit();
JS
expect <<'TEXT'
TimeoutError
ticks of 500 ms in 6 s: the missed ones are one
TEXT
