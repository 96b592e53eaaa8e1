#!/usr/bin/env bash
# Package: ioredis 6.0.0
# Guess: `commandTimeout` ends a BLPOP; an element that comes later stays in the list for the next one.
# Seen: the command goes on at the server, which hands the next element to it: taken from the list, and given to nobody.
. "$(dirname "$0")/lib.sh"
needs redis-server
server redis
packages ioredis@6.0.0
observe <<'JS'
import Redis from "ioredis";
import { sleep } from "./kit.mjs";

const worker = new Redis(process.env.URL, { commandTimeout: 300 });
const client = new Redis(process.env.URL);
await worker.blpop("jobs", 5).catch((error) => console.log(`worker: ${error.message}`));
await client.rpush("jobs", "a job");
await sleep(200);
console.log(`jobs in the list: ${await client.llen("jobs")}`);
process.exit();
JS
expect <<'TEXT'
worker: Command timed out
jobs in the list: 0
TEXT
