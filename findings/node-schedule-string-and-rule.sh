#!/usr/bin/env bash
# Package: node-schedule 2.1.1
# Guess: `30 2 * * *` runs at 03:00 on the day whose clocks skip 02:30, and its RecurrenceRule does the same.
# Seen: the text runs at 03:30, and once in autumn. The rule of the same time skips the day, and runs twice in autumn.
. "$(dirname "$0")/lib.sh"
packages node-schedule@2.1.1
observe <<'JS'
import schedule from "node-schedule";

const tz = "Europe/Berlin";
const rule = Object.assign(new schedule.RecurrenceRule(), { hour: 2, minute: 30, tz });
const days = { spring: "2027-03-27T12:00:00Z", autumn: "2027-10-30T12:00:00Z" };
const two = (next, from) => {
  const first = next(new Date(from));
  return [first, next(new Date(first.getTime() + 60_000))].map((time) => time.toISOString().slice(5, 16)).join(", ");
};
for (const [name, from] of Object.entries(days)) {
  const text = (start) => {
    const job = schedule.scheduleJob({ rule: "30 2 * * *", tz, start, end: new Date("2030-01-01") }, () => {});
    const next = new Date(job.nextInvocation().getTime());
    job.cancel();
    return next;
  };
  console.log(`${name}, the text: ${two(text, from)}`);
  console.log(`${name}, the rule: ${two((after) => new Date(rule.nextInvocationDate(after).getTime()), from)}`);
}
JS
expect <<'TEXT'
spring, the text: 03-28T01:30, 03-29T00:30
spring, the rule: 03-29T00:30, 03-30T00:30
autumn, the text: 10-31T00:30, 11-01T01:30
autumn, the rule: 10-31T00:30, 10-31T01:30
TEXT
