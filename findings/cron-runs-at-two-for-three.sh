#!/usr/bin/env bash
# Package: cron 4.4.0
# Guess: a job at 03:00 runs once a day; only times between 02:00 and 03:00 are touched when the clocks go back.
# Seen: on that day it runs at the second 02:00 and at 03:00.
. "$(dirname "$0")/lib.sh"
packages cron@4.4.0 @sinonjs/fake-timers@15.5.0
observe <<'JS'
import FakeTimers from "@sinonjs/fake-timers";

const clock = FakeTimers.install({ now: Date.parse("2026-10-24T20:00:00Z") });
const { CronJob } = await import("cron");
const runs = [];
const onTick = () =>
  runs.push(`${new Date().toLocaleString("sv", { timeZone: "Europe/Berlin" })} (${new Date().toISOString().slice(11, 16)} UTC)`);
const job = CronJob.from({ cronTime: "0 3 * * *", timeZone: "Europe/Berlin", onTick, start: true });
for (let hour = 0; hour < 32; hour++) await clock.tickAsync(3_600_000);
await job.stop();
console.log(runs.join("\n"));
JS
expect <<'TEXT'
2026-10-25 02:00:00 (01:00 UTC)
2026-10-25 03:00:00 (02:00 UTC)
2026-10-26 03:00:00 (02:00 UTC)
TEXT
