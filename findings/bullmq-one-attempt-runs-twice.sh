#!/usr/bin/env bash
# Package: bullmq 6.7.0
# Guess: a job with `attempts: 1` runs at most once; a worker that dies uses up its attempt.
# Seen: a job whose worker went away runs again with `attemptsMade` 0. `maxStalledCount`, 1 by default, is the limit.
. "$(dirname "$0")/lib.sh"
needs redis-server
server redis
packages bullmq@6.7.0 ioredis@6.0.0
observe <<'JS'
import { Queue, Worker } from "bullmq";
import { sleep } from "./kit.mjs";

const { hostname: host, port, password } = new URL(process.env.URL);
const connection = { host, port: Number(port), password, maxRetriesPerRequest: null };
const queue = new Queue("jobs", { connection });
const quick = { connection, lockDuration: 1_000, stalledInterval: 500 };
let begin;
const began = new Promise((resolve) => (begin = resolve));
const first = new Worker("jobs", async (job) => {
  console.log(`first worker: attempts ${job.opts.attempts}, made ${job.attemptsMade}`);
  begin();
  await sleep(60_000);
}, quick);
await queue.add("job", {}, { attempts: 1 });
await began;
await first.close(true); // gone, without an outcome
await new Promise((resolve) => {
  new Worker("jobs", async (job) => {
    console.log(`second worker: attempts ${job.opts.attempts}, made ${job.attemptsMade}, stalled ${job.stalledCounter}`);
    resolve();
  }, quick);
});
process.exit();
JS
expect <<'TEXT'
first worker: attempts 1, made 0
second worker: attempts 1, made 0, stalled 1
TEXT
