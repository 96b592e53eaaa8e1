#!/usr/bin/env bash
# Package: postgres 3.4.9 (postgres.js), PostgreSQL 15
# Guess: the query that runs when the server ends its connection (57P01) rejects with 57P01; the next one, on a new
# connection, works.
# Seen: the query rejects with CONNECTION_CLOSED, and the next one, sent on the new connection, with the 57P01 of the old
# one. It was not sent. The one after it works.
. "$(dirname "$0")/lib.sh"
needs psql
server postgres
packages postgres@3.4.9
observe <<'JS'
import postgres from "postgres";
import { sleep } from "./kit.mjs";

const admin = postgres(process.env.URL, { max: 1 });
const sql = postgres(process.env.URL, { max: 1 });
const [{ pid }] = await sql`select pg_backend_pid() as pid`;
const outcome = (query) => query.then(() => "resolves", (error) => `rejects with ${error.code}`);
await sql`create table orders (client text)`;
const running = outcome(sql`select pg_sleep(5)`);
await sleep(500);
await admin`select pg_terminate_backend(${pid})`;
console.log(`running query: ${await running}`);
console.log(`next query: ${await outcome(sql`insert into orders values ('ann')`)}`);
console.log(`rows it has inserted: ${(await admin`select from orders`).length}`);
console.log(`the one after it: ${await outcome(sql`select 1`)}`);
process.exit();
JS
expect <<'TEXT'
running query: rejects with CONNECTION_CLOSED
next query: rejects with 57P01
rows it has inserted: 0
the one after it: resolves
TEXT
