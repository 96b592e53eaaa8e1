#!/usr/bin/env bash
# Package: p-throttle 8.1.1
# Guess: `limit: 2, interval: 1000` never makes more than two calls within a second.
# Seen: it counts windows: three calls within 100 ms at the border of two of them. `strict: true` counts the last second.
. "$(dirname "$0")/lib.sh"
packages p-throttle@8.1.1
observe <<'JS'
import pThrottle from "p-throttle";
import { seconds, sleep } from "./kit.mjs";

for (const strict of [false, true]) {
  const begin = performance.now();
  const calls = [];
  const throttled = pThrottle({ limit: 2, interval: 1_000, strict })(async () => {
    calls.push(seconds(performance.now() - begin, 0.1).toFixed(1));
  });
  throttled();
  await sleep(900);
  await Promise.all([throttled(), throttled(), throttled()]);
  console.log(`strict ${strict}: calls at ${calls.join(" ")} s`);
}
JS
expect <<'TEXT'
strict false: calls at 0.0 0.9 1.0 1.0 s
strict true: calls at 0.0 0.9 1.0 1.9 s
TEXT
