#!/usr/bin/env bash
# Package: lru-cache 11.5.3, @sinonjs/fake-timers 15.5.0, vitest 5.1.1
# Guess: an item expires when fake time has passed its `ttl`.
# Seen: in vitest none does: the cache keeps the `performance` object of its import, which stays real. In
# @sinonjs/fake-timers those of the first instant stay: their time is 0, which counts as none. With `perf: Date` all expire.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages lru-cache@11.5.3 @sinonjs/fake-timers@15.5.0 vitest@5.1.1
cat >expires.test.mjs <<'JS'
import { appendFileSync } from "node:fs";
import { LRUCache } from "lru-cache";
import { test, vi } from "vitest";

test("expires", async () => {
  vi.useFakeTimers();
  const cache = new LRUCache({ max: 9, ttl: 1_000 });
  cache.set("first", 1);
  await vi.advanceTimersByTimeAsync(1);
  cache.set("second", 1);
  await vi.advanceTimersByTimeAsync(3_600_000);
  const left = ["first", "second"].filter((item) => cache.get(item) !== undefined);
  appendFileSync("out.txt", `vitest, default: ${left.join(", ")} left after an hour\n`);
});
JS
observe <<'JS'
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import FakeTimers from "@sinonjs/fake-timers";
import { LRUCache } from "lru-cache";

for (const name of ["default", "perf: Date"]) {
  const clock = FakeTimers.install({ now: Date.UTC(2026, 0, 1) });
  const cache = new LRUCache({ max: 9, ttl: 1_000, ...(name === "perf: Date" && { perf: Date }) });
  for (const item of ["first", "second"]) {
    cache.set(item, 1);
    await clock.tickAsync(500);
  }
  await clock.tickAsync(3_600_000);
  const left = ["first", "second"].filter((item) => cache.get(item) !== undefined);
  console.log(`@sinonjs/fake-timers, ${name}: ${left.join(", ") || "nothing"} left after an hour`);
  clock.uninstall();
}
execFileSync("node_modules/.bin/vitest", ["run"], { stdio: "ignore" });
console.log(readFileSync("out.txt", "utf8").trim());
JS
expect <<'TEXT'
@sinonjs/fake-timers, default: first left after an hour
@sinonjs/fake-timers, perf: Date: nothing left after an hour
vitest, default: first, second left after an hour
TEXT
