#!/usr/bin/env bash
# Package: vitest 5.1.2, @sinonjs/fake-timers 15.5.0, Node 26.10.0
# Guess: a fake timer can be declared with `using`, as one of Node can.
# Seen: it has ref, unref, hasRef and refresh, and no Symbol.dispose: `using` throws a TypeError, and the timer fires. One of
# node:test can.
. "$(dirname "$0")/lib.sh"
packages vitest@5.1.2 @sinonjs/fake-timers@15.5.0
node_of 26.10.0
cat >timer.test.mjs <<'JS'
import { appendFileSync } from "node:fs";
import { test, vi } from "vitest";
import { tryTimer } from "./timer.mjs";

test("vitest", () => {
  vi.useFakeTimers();
  appendFileSync("vitest.txt", `vitest: ${tryTimer(() => vi.advanceTimersByTime(100))}\n`);
  vi.useRealTimers();
});
JS
cat >timer.mjs <<'JS'
export function tryTimer(advance) {
  let fired = false;
  let outcome = "disposed";
  try {
    using _timer = setTimeout(() => (fired = true), 10);
  } catch (error) {
    outcome = error.name;
  }
  advance();
  return `${outcome}, ${fired ? "fires" : "does not fire"}`;
}
JS
observe <<'JS'
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mock } from "node:test";
import FakeTimers from "@sinonjs/fake-timers";
import { tryTimer } from "./timer.mjs";

mock.timers.enable();
console.log(`node:test: ${tryTimer(() => mock.timers.tick(100))}`);
mock.timers.reset();
const clock = FakeTimers.install();
console.log(`sinon: ${tryTimer(() => clock.tick(100))}`);
clock.uninstall();
spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "timer.test.mjs"]);
process.stdout.write(readFileSync("vitest.txt", "utf8"));
JS
expect <<'TEXT'
node:test: disposed, does not fire
sinon: TypeError, fires
vitest: TypeError, fires
TEXT
