#!/usr/bin/env bash
# Package: node-cron 4.6.0, node-schedule 2.1.1
# Guess: both run a job of 02:30 at the first 02:30 when the clocks go back, or node-cron at both.
# Seen: node-cron runs it at the second one, an hour after node-schedule; when the clocks go forward, node-cron skips the
# day and node-schedule runs it at 03:30.
. "$(dirname "$0")/lib.sh"
packages node-cron@4.6.0 node-schedule@2.1.1 @sinonjs/fake-timers@15.5.0
observe <<'JS'
import FakeTimers from "@sinonjs/fake-timers";

const zone = "Europe/Berlin";
const clock = FakeTimers.install();
const { default: nodeCron } = await import("node-cron");
const { default: nodeSchedule } = await import("node-schedule");
for (const eve of ["2026-10-24", "2026-03-28"]) {
  clock.setSystemTime(Date.parse(`${eve}T20:00:00Z`));
  const runs = [];
  const note = (name) => () => {
    const local = new Date().toLocaleString("sv", { timeZone: zone }).slice(0, 16);
    runs.push(`${name} ${local} (${new Date().toISOString().slice(11, 16)} UTC)`);
  };
  const task = nodeCron.schedule("30 2 * * *", note("node-cron"), { timezone: zone });
  const job = nodeSchedule.scheduleJob({ rule: "30 2 * * *", tz: zone }, note("node-schedule"));
  for (let step = 0; step < 48; step++) await clock.tickAsync(600_000);
  await task.destroy();
  job.cancel();
  console.log(`night after ${eve}: ${runs.join(", ")}`);
}
process.exit();
JS
expect <<'TEXT'
night after 2026-10-24: node-schedule 2026-10-25 02:30 (00:30 UTC), node-cron 2026-10-25 02:30 (01:30 UTC)
night after 2026-03-28: node-schedule 2026-03-29 03:30 (01:30 UTC)
TEXT
