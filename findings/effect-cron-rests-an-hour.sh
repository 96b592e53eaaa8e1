#!/usr/bin/env bash
# Package: effect 4.1.0
# Guess: in the hour that comes twice in autumn, a job of one time runs once, and one of each minute goes on.
# Seen: no pattern runs in the second pass of that hour. A job of each minute rests 61 minutes, one of each half hour 90.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages effect@4.1.0
observe <<'JS'
import { Cron } from "effect";

for (const pattern of ["30 2 * * *", "* * * * *", "*/30 * * * *"]) {
  const cron = Cron.parseUnsafe(pattern, "Europe/Berlin"); // 03:00 becomes 02:00 at 01:00 UTC
  let time = new Date("2026-10-25T00:28:30Z");
  const times = [];
  while (times.length < (pattern === "* * * * *" ? 33 : 3)) times.push((time = Cron.next(cron, time)));
  const utc = times.slice(-3).map((each) => each.toISOString().slice(5, 16));
  console.log(`${pattern}: ${utc.join(", ")}`);
}
JS
expect <<'TEXT'
30 2 * * *: 10-25T00:30, 10-26T01:30, 10-27T01:30
* * * * *: 10-25T00:59, 10-25T02:00, 10-25T02:01
*/30 * * * *: 10-25T00:30, 10-25T02:00, 10-25T02:30
TEXT
