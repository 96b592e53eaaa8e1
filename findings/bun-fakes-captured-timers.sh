#!/usr/bin/env bash
# Package: bun 1.4.5
# Guess: fake timers replace the globals, so a setTimeout that was kept before stays real; AbortSignal.timeout and
# performance.now stay real; setTimeout.clock is the clock of the fakes, as in jest.
# Seen: they are below the globals: a kept setTimeout follows them, too, and so do AbortSignal.timeout, performance.now and
# process.hrtime. setTimeout.clock is `true`.
. "$(dirname "$0")/lib.sh"
packages bun@1.4.5
cat >fakes.test.mjs <<'JS'
import { jest, test } from "bun:test";
import { scheduler } from "node:timers/promises";

const kept = setTimeout;
const seen = (name, value) => console.log(`${name}: ${value}`);

test("fakes", async () => {
  jest.useFakeTimers();
  const fired = { kept: false, wait: false };
  kept(() => (fired.kept = true), 60_000);
  scheduler.wait(60_000).then(() => (fired.wait = true));
  const signal = AbortSignal.timeout(60_000);
  const from = performance.now();
  const hrtime = process.hrtime.bigint();
  seen("setTimeout.clock", globalThis.setTimeout.clock);
  jest.advanceTimersByTime(60_000);
  for (let i = 0; i < 100; i++) await null;
  seen("a kept setTimeout", fired.kept);
  seen("scheduler.wait", fired.wait);
  seen("AbortSignal.timeout", signal.aborted);
  seen("performance.now", performance.now() - from >= 60_000);
  seen("process.hrtime", Number(process.hrtime.bigint() - hrtime) >= 60_000e6);
  jest.useRealTimers();
});
JS
node_modules/.bin/bun test ./fakes.test.mjs 2>errors.txt | grep ": " >seen.txt || true
cat seen.txt
expect <<'TEXT'
setTimeout.clock: true
a kept setTimeout: true
scheduler.wait: true
AbortSignal.timeout: true
performance.now: true
process.hrtime: true
TEXT
