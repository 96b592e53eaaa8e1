#!/usr/bin/env bash
# Package: @breejs/later 4.2.0, bree 9.2.9
# Guess: the text "every 90 minutes" is a period, or an error; a text that later does not understand throws.
# Seen: it means each full hour, "every 25 hours" each midnight, and "every 45 minutes" has gaps of 45 and 15. An error is a
# number beside the schedule of the words before it: "every day at 10:15 am" is the first of each month. In bree, the text
# with "every" is later's, and the one without is a period.
. "$(dirname "$0")/lib.sh"
packages @breejs/later@4.2.0 bree@9.2.9
echo >job.mjs
observe <<'JS'
import later from "@breejs/later";
import Bree from "bree";

const texts = ["every 90 minutes", "every 45 minutes", "every 25 hours", "every day at 10:15 am"];
for (const text of texts) {
  const schedule = later.parse.text(text);
  const times = later.schedule(schedule).next(3, new Date("2026-01-02T01:10:00Z"));
  const utc = times.map((time) => time.toISOString().slice(5, 16)).join(", ");
  console.log(`${text}: error ${schedule.error}; ${utc}`);
}
for (const interval of ["every 90 minutes", "90 minutes"]) {
  const bree = new Bree({ root: false, logger: false, jobs: [{ name: "job", path: `${process.cwd()}/job.mjs`, interval }] });
  await bree.init();
  const [{ interval: read }] = bree.config.jobs;
  console.log(`bree, ${interval}: ${typeof read === "number" ? `each ${read / 60_000} minutes` : JSON.stringify(read.schedules)}`);
}
process.exit();
JS
expect <<'TEXT'
every 90 minutes: error -1; 01-02T02:00, 01-02T03:00, 01-02T04:00
every 45 minutes: error -1; 01-02T01:45, 01-02T02:00, 01-02T02:45
every 25 hours: error -1; 01-03T00:00, 01-04T00:00, 01-05T00:00
every day at 10:15 am: error 6; 02-01T00:00, 03-01T00:00, 04-01T00:00
bree, every 90 minutes: [{"m":[0]}]
bree, 90 minutes: each 90 minutes
TEXT
