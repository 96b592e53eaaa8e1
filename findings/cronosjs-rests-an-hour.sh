#!/usr/bin/env bash
# Package: cronosjs 1.7.1, cron-parser 5.10.6
# Guess: a job of each half hour runs each half hour, also when the clocks go back.
# Seen: cronosjs treats it like a job of fixed hours and skips the second 02:00 and 02:30: a rest of 90 minutes.
. "$(dirname "$0")/lib.sh"
packages cronosjs@1.7.1 cron-parser@5.10.6
observe <<'JS'
import { CronExpressionParser } from "cron-parser";
import { CronosExpression } from "cronosjs";

const zone = "Europe/Berlin";
const nextOf = {
  "cron-parser": (after) => CronExpressionParser.parse("*/30 * * * *", { currentDate: after, tz: zone }).next().toDate(),
  cronosjs: (after) => CronosExpression.parse("*/30 * * * *", { timezone: zone }).nextDate(after),
};
for (const [name, next] of Object.entries(nextOf)) {
  let time = new Date("2026-10-24T23:45:00Z");
  const times = [];
  while (times.length < 5) times.push((time = next(time)).toISOString().slice(11, 16));
  console.log(`${name}: ${times.join(" ")} UTC`);
}
JS
expect <<'TEXT'
cron-parser: 00:00 00:30 01:00 01:30 02:00 UTC
cronosjs: 00:00 00:30 02:00 02:30 03:00 UTC
TEXT
