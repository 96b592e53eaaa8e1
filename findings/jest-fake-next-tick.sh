#!/usr/bin/env bash
# Package: jest 30.5.2, ioredis 6.0.0, pg 8.23.1
# Guess: under the default fake timers of jest a query to a real server gets no answer with any client, as `process.nextTick` is fake
# for packages, too; or with none.
# Seen: ioredis gets none, pg does. With `doNotFake: ["nextTick"]` both do.
. "$(dirname "$0")/lib.sh"
server redis
REDIS=$URL
server postgres
export REDIS
node_of 26.10.0
packages jest@30.5.2 ioredis@6.0.0 pg@8.23.1
cat >fakes.test.cjs <<'JS'
const { appendFileSync } = require("node:fs");
const { Redis } = require("ioredis");
const pg = require("pg");

const later = setTimeout;
const within = (query) =>
  Promise.race([query.then(() => "answers", ({ message }) => message), new Promise((resolve) => later(resolve, 2_000, "waits"))]);
test("queries", async () => {
  for (const [name, options] of [["default"], ["without nextTick", { doNotFake: ["nextTick"] }]]) {
    jest.useFakeTimers(options);
    const [redis, pool] = [new Redis(process.env.REDIS), new pg.Pool({ connectionString: process.env.URL })];
    const seen = [`ioredis ${await within(redis.get("a"))}`, `pg ${await within(pool.query("SELECT 1"))}`];
    appendFileSync("out.txt", `${name}: ${seen.join(", ")}\n`);
    redis.disconnect();
    jest.useRealTimers();
  }
}, 20_000);
JS
observe <<'JS'
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

spawnSync("node_modules/.bin/jest", ["--forceExit", "--testMatch", "**/*.test.cjs"], { stdio: "ignore" });
console.log(readFileSync("out.txt", "utf8").trim());
JS
expect <<'TEXT'
default: ioredis waits, pg answers
without nextTick: ioredis answers, pg answers
TEXT
