#!/usr/bin/env bash
# Package: node-cron 4.6.0, croner 11.0.1
# Guess: after a clock was set back, a job of each second goes on; after a suspension of five hours it says once that it was late.
# Seen: node-cron runs nothing until the clock is where it was. After a step forward it logs a warning for each of the 18,000
# seconds. croner goes on after both.
. "$(dirname "$0")/lib.sh"
packages node-cron@4.6.0 croner@11.0.1
observe <<'JS'
import { Cron } from "croner";
import { schedule } from "node-cron";
import { sleep, stepWallClock } from "./kit.mjs";

let warnings = 0;
const log = console.log;
for (const method of ["log", "info", "warn", "error"]) console[method] = () => void warnings++;
for (const [name, hours] of [["forward", 5], ["back", -5]]) {
  const runs = { croner: 0, "node-cron": 0 };
  const jobs = [new Cron("* * * * * *", () => void runs.croner++), schedule("* * * * * *", () => void runs["node-cron"]++)];
  await sleep(2_500);
  runs.croner = runs["node-cron"] = warnings = 0;
  stepWallClock(hours);
  await sleep(4_500);
  const goesOn = (count) => (count > 0 ? "goes on" : "stands still");
  const warned = warnings > 17_000 ? "a warning for each second" : "few warnings";
  log(`${name}: croner ${goesOn(runs.croner)}, node-cron ${goesOn(runs["node-cron"])}, ${warned}`);
  for (const job of jobs) await job.stop();
}
process.exit();
JS
expect <<'TEXT'
forward: croner goes on, node-cron goes on, a warning for each second
back: croner goes on, node-cron stands still, few warnings
TEXT
