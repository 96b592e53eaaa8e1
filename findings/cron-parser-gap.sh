#!/usr/bin/env bash
# Package: cron-parser 5.10.6, cronosjs 1.7.1, cron 4.4.0
# Guess: a job of the hour that the clocks skip runs once, when that hour would have begun: 03:00.
# Seen: so do cronosjs and cron. cron-parser moves 02:30 to 03:30. A step of a quarter of an hour
# is four runs for a program that keeps its iterator, and one for a program that asks again from its last run,
# as after a restart. (For croner 11, see ../docs/scheduled-jobs.md.)
. "$(dirname "$0")/lib.sh"
packages cron-parser@5.10.6 cronosjs@1.7.1 cron@4.4.0
observe <<'JS'
import { CronTime } from "cron";
import { CronExpressionParser } from "cron-parser";
import { CronosExpression } from "cronosjs";

const zone = "Europe/Berlin";
const [from, to] = [new Date("2026-03-28T22:00:00Z"), new Date("2026-03-29T02:00:00Z")];
const nextOf = {
  "cron-parser": (pattern, after) =>
    CronExpressionParser.parse(pattern, { currentDate: after, tz: zone }).next().toDate(),
  cronosjs: (pattern, after) => CronosExpression.parse(pattern, { timezone: zone }).nextDate(after),
  cron: (pattern, after) => new CronTime(pattern, zone).getNextDateFrom(after, zone).toJSDate(),
};
const timesOf = (next) => {
  const times = [];
  for (let time = next(from); time < to; time = next(time))
    times.push(time.toLocaleString("sv", { timeZone: zone }).slice(11, 16));
  return times.join(" ");
};
for (const pattern of ["30 2 * * *", "*/15 2 * * *"]) {
  for (const [name, next] of Object.entries(nextOf))
    console.log(`${pattern} with ${name}: ${timesOf((after) => next(pattern, after))}`);
  const kept = CronExpressionParser.parse(pattern, { currentDate: from, tz: zone });
  console.log(`${pattern} with cron-parser, one iterator: ${timesOf(() => kept.next().toDate())}`);
}
JS
expect <<'TEXT'
30 2 * * * with cron-parser: 03:30
30 2 * * * with cronosjs: 03:00
30 2 * * * with cron: 03:00
30 2 * * * with cron-parser, one iterator: 03:30
*/15 2 * * * with cron-parser: 03:00
*/15 2 * * * with cronosjs: 03:00
*/15 2 * * * with cron: 03:00
*/15 2 * * * with cron-parser, one iterator: 03:00 03:15 03:30 03:45
TEXT
