#!/usr/bin/env bash
# Package: p-throttle 8.1.1, p-queue 10.0.0, bottleneck 2.19.5, cockatiel 4.0.0, opossum 9.0.0, limiter 4.1.0
# Guess: a limit of one call a second, and a breaker that is half open after one, measure that second by a clock that never steps.
# Seen: of six, four measure it by Date. A clock that is set back by five hours stops them for five hours.
. "$(dirname "$0")/lib.sh"
packages p-throttle@8.1.1 p-queue@10.0.0 bottleneck@2.19.5 cockatiel@4.0.0 opossum@9.0.0 limiter@4.1.0
observe <<'JS'
import Bottleneck from "bottleneck";
import { circuitBreaker, ConsecutiveBreaker, handleAll } from "cockatiel";
import { RateLimiter } from "limiter";
import Opossum from "opossum";
import PQueue from "p-queue";
import pThrottle from "p-throttle";
import { sleep, stepWallClock, within } from "./kit.mjs";

const one = async () => 1;
const fail = async () => {
  throw new Error("refused");
};
const throttled = pThrottle({ limit: 1, interval: 1_000 })(one);
const queue = new PQueue({ interval: 1_000, intervalCap: 1 });
const bottleneck = new Bottleneck({ minTime: 1_000 });
const limiter = new RateLimiter({ tokensPerInterval: 1, interval: 1_000 });
const breaker = circuitBreaker(handleAll, { halfOpenAfter: 1_000, breaker: new ConsecutiveBreaker(1) });
let work = fail;
const opossum = new Opossum(() => work(), { resetTimeout: 1_000, errorThresholdPercentage: 1 });
await Promise.all([throttled(), queue.add(one), bottleneck.schedule(one), limiter.removeTokens(1)]);
await Promise.allSettled([breaker.execute(fail), opossum.fire()]);
work = one;
stepWallClock(-5);
const waiting = { "p-throttle": throttled(), "p-queue": queue.add(one), bottleneck: bottleneck.schedule(one), limiter: limiter.removeTokens(1) };
await sleep(2_000);
const calls = { ...waiting, cockatiel: breaker.execute(one), opossum: opossum.fire() };
const ends = await Promise.all(Object.values(calls).map((call) => within(1_000, call)));
for (const [i, name] of Object.keys(calls).entries()) console.log(`${name}: ${ends[i] ? "goes on" : "stands still"}`);
process.exit();
JS
expect <<'TEXT'
p-throttle: stands still
p-queue: stands still
bottleneck: stands still
limiter: goes on
cockatiel: stands still
opossum: goes on
TEXT
