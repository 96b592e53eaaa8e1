#!/usr/bin/env bash
# Package: graphile-worker 0.18.0
# Guess: SIGTERM ends the process once `gracefulShutdownAbortTimeout`, 5 s by default, is over, and the job is free again.
# Seen: after that time only the signal of the job aborts. The process waits for a job that does not listen to it as long
# as it runs, so Kubernetes kills it; the job of a killed process is tried again four hours later.
. "$(dirname "$0")/lib.sh"
server postgres
packages graphile-worker@0.18.0
observe <<'JS'
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { seconds, sleep } from "./kit.mjs";

const options = { connectionString: process.env.URL, logger: new Logger(() => () => {}) };
const utils = await makeWorkerUtils(options);
await utils.migrate();
await utils.addJob("deaf", {});
await utils.release();
let begin;
const at = () => `${seconds(performance.now() - begin, 5)} s`;
const deaf = async (_payload, { abortSignal }) => {
  begin = performance.now();
  abortSignal.addEventListener("abort", () => console.log(`${at()}: the signal of the job aborts`));
  process.kill(process.pid, "SIGTERM");
  await sleep(15_000);
  console.log(`${at()}: the job ends`);
};
process.on("SIGTERM", () => {}); // it sends the signal again at the end
const runner = await run({ ...options, taskList: { deaf } });
await runner.promise.catch(() => {});
console.log(`${at()}: the runner ends`);
process.exit();
JS
expect <<'TEXT'
5 s: the signal of the job aborts
15 s: the job ends
15 s: the runner ends
TEXT
