#!/usr/bin/env bash
# Package: lru-cache 11.5.3, @sinonjs/fake-timers 15.5.0, vitest 5.1.1
# Guess: an item expires when fake time has passed its `ttl`.
# Seen: never. The cache keeps the `performance` object of its import, and the fakes put another one in its place.
# `perf: performance`, given under the fakes, follows them.
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
  cache.set("a", 1);
  await vi.advanceTimersByTimeAsync(3_600_000);
  appendFileSync("out.txt", `vitest: ${cache.get("a")} after an hour\n`);
});
JS
observe <<'JS'
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import FakeTimers from "@sinonjs/fake-timers";
import { LRUCache } from "lru-cache";

const clock = FakeTimers.install();
for (const [name, options] of Object.entries({ default: {}, "perf: performance": { perf: performance } })) {
  const cache = new LRUCache({ max: 9, ttl: 1_000, ...options });
  cache.set("a", 1);
  await clock.tickAsync(3_600_000);
  console.log(`@sinonjs/fake-timers, ${name}: ${cache.get("a")} after an hour`);
}
clock.uninstall();
execFileSync("node_modules/.bin/vitest", ["run"], { stdio: "ignore" });
console.log(readFileSync("out.txt", "utf8").trim());
JS
expect <<'TEXT'
@sinonjs/fake-timers, default: 1 after an hour
@sinonjs/fake-timers, perf: performance: undefined after an hour
vitest: 1 after an hour
TEXT
