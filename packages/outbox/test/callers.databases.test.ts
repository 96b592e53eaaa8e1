import { MySqlDatabase, MySqlStore, migrate as migrateMySql } from "@holdfast/outbox/mysql";
import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { migrate, PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import { expect, it } from "vitest";
import { BOTH, callersOf } from "../../../test/callers.ts";
import { idOf, sample } from "./sample.ts";
import { sampleMessage } from "./sample-message.ts";

async function fails(): Promise<never> {
  await Promise.resolve();
  throw Object.assign(new Error("inside outbox_message"), { code: "42P01", errno: 1146 });
}

const client = { query: fails, release: () => {}, on: () => {}, off: () => {} };
const pool = { query: fails, connect: async () => client, end: fails, on: () => {} };
const pg = new PgDatabase(pool as never);
const pglite = { query: fails, transaction: fails, listen: fails, close: fails };
const embedded = new PGliteDatabase(pglite as never);
const connection = { query: fails, execute: fails, release: () => {}, destroy: () => {} };
const mysqlPool = {
  ...connection,
  getConnection: async () => connection,
  end: fails,
  on: () => {},
};
const mysql = new MySqlDatabase(mysqlPool);

const message = sampleMessage();
const page = { topic: undefined, after: undefined, limit: 1 };
const claiming = { relay: "a", now: 0, until: 1, limit: 1 };
const nothing = async () => undefined;

const postgresStore = new PostgresStore(pg);
const mysqlStore = new MySqlStore(mysql);
const sqlStores = Object.entries({
  PostgresStore: postgresStore,
  MySqlStore: mysqlStore,
}).flatMap(([name, sql]): [string, () => PromiseLike<unknown>][] => [
  [`${name}.save`, () => sql.save({ query: fails }, message, 0)],
  [`${name}.saveAll`, () => sql.saveAll({ query: fails }, [sample(1), sample(2)], 0)],
  [`${name}.cancel`, () => sql.cancel(idOf(1))],
  [`${name}.takeOnce`, () => sql.takeOnce({ query: fails }, "a", 0, 1)],
  [`${name}.removeOnce`, () => sql.removeOnce(0, 1)],
  [`${name}.claim`, () => sql.claim(claiming)],
  [`${name}.nextDue`, () => sql.nextDue()],
  [`${name}.deadLetters`, () => sql.deadLetters(page)],
  [`${name}.removeDelivered`, () => sql.removeDelivered(0, 1)],
  [`${name}.find`, () => sql.find(idOf(1))],
  [`${name}.backlog`, () => sql.backlog()],
  [`${name}.counts`, () => sql.counts()],
]);

it.each<readonly [name: string, call: () => PromiseLike<unknown>]>([
  ["PgDatabase.query", () => pg.query("")],
  ["PgDatabase.transaction", () => pg.transaction(nothing)],
  ["PGliteDatabase.query", () => embedded.query("")],
  ["PGliteDatabase.transaction", () => embedded.transaction(nothing)],
  ["MySqlDatabase.query", () => mysql.query("")],
  ["MySqlDatabase.transaction", () => mysql.transaction(nothing)],
  ["MySqlDatabase.readCommitted", () => mysql.readCommitted(nothing)],
  ["migrate of /postgres", () => migrate(pg)],
  ["migrate of /mysql", () => migrateMySql(mysql)],
  ...sqlStores,
  ["PostgresStore.replay", () => postgresStore.replay("all", 0)],
  ["PostgresStore.discard", () => postgresStore.discard("all")],
  ["MySqlStore.replay", () => mysqlStore.replay("all", 0)],
  ["MySqlStore.discard", () => mysqlStore.discard("all")],
])("the stack of an error of %s shows the callers", async (_, call) => {
  expect((await callersOf(call)).callers).toEqual(BOTH);
});
