#!/usr/bin/env bash
# Package: promise-retry 2.0.1
# Guess: with `forever`, the delay stays at its largest value after `retries` retries.
# Seen: the delays start again from the first one: with the defaults, ten retries up to 512 s, then one after 1 s.
. "$(dirname "$0")/lib.sh"
packages promise-retry@2.0.1 @sinonjs/fake-timers@15.5.0
observe <<'JS'
import FakeTimers from "@sinonjs/fake-timers";

const clock = FakeTimers.install();
const { default: promiseRetry } = await import("promise-retry");
const delays = [];
let last;
promiseRetry(
  (retry) => {
    if (last !== undefined) delays.push((Date.now() - last) / 1000);
    last = Date.now();
    retry(new Error("busy"));
  },
  { forever: true },
);
while (delays.length < 14) await clock.tickAsync(500);
console.log(`delays in seconds: ${delays.join(" ")}`);
JS
expect <<'TEXT'
delays in seconds: 1 2 4 8 16 32 64 128 256 512 1 2 4 8
TEXT
