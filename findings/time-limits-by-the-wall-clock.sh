#!/usr/bin/env bash
# Package: async-retry 1.3.3, p-retry 9.0.0, keyv 5.6.0, quick-lru 7.3.0
# Guess: a laptop that wakes after five hours goes on with its retry of 3 s; a clock that is set back lets no item outlive its second.
# Seen: async-retry gives up, p-retry goes on. The items of both caches live five hours longer.
. "$(dirname "$0")/lib.sh"
packages async-retry@1.3.3 p-retry@9.0.0 keyv@5.6.0 quick-lru@7.3.0
observe <<'JS'
import asyncRetry from "async-retry";
import Keyv from "keyv";
import pRetry from "p-retry";
import QuickLRU from "quick-lru";
import { sleep, stepWallClock, within } from "./kit.mjs";

const options = { minTimeout: 300, factor: 1, maxRetryTime: 30_000, randomize: false };
const third = () => {
  let calls = 0;
  return () => {
    if (++calls < 3) throw new Error("refused");
  };
};
const running = { "async-retry": asyncRetry(third(), options), "p-retry": pRetry(third(), options) };
for (const each of Object.values(running)) each.catch(() => {});
await sleep(100);
stepWallClock(5);
for (const [name, each] of Object.entries(running)) console.log(`${name}: ${(await within(10_000, each)) ? "goes on" : "gives up"}`);

const keyv = new Keyv();
const lru = new QuickLRU({ maxSize: 9, maxAge: 1_000 });
await keyv.set("a", 1, 1_000);
lru.set("a", 1);
stepWallClock(-5);
await sleep(1_500);
console.log(`keyv: ${await keyv.get("a")}, quick-lru: ${lru.get("a")}`);
process.exit();
JS
expect <<'TEXT'
async-retry: gives up
p-retry: goes on
keyv: 1, quick-lru: 1
TEXT
