import { migrate } from "@holdfast/outbox/mysql";
import { expect, it } from "vitest";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { connectToMySql } from "./connect-to-mysql.ts";

const open = async () => connectToMySql(await makeMySqlDatabase(requiredUrl("MYSQL_URL")));

it("applies each migration once, and nothing the next time", async () => {
  await using database = await open();
  expect(await migrate(database)).toEqual([1, 2, 3, 4, 5]);
  expect(await migrate(database)).toEqual([]);
});

it("applies each migration once when many start at once", async () => {
  await using database = await open();
  const all = await Promise.all(Array.from({ length: 5 }, () => migrate(database)));
  expect(all.flat()).toEqual([1, 2, 3, 4, 5]);
});

it("completes a partial migration without blocking other sessions", async () => {
  await using database = await open();
  await database.query("CREATE TABLE outbox_fence (own_name INT)");
  await database.query("CREATE TABLE outbox_migration (number INT PRIMARY KEY, name VARCHAR(5))");
  await expect(migrate(database)).rejects.toThrow(/Data too long/); // "messages"
  await database.query("DROP TABLE outbox_fence");
  await database.query("ALTER TABLE outbox_migration MODIFY name VARCHAR(255) NOT NULL");
  expect(await migrate(database)).toEqual([1, 2, 3, 4, 5]);
  await database.query("SELECT name, token FROM outbox_fence");
});

it("does not wait for the migrations of another database or prefix", async () => {
  await using database = await open();
  await using other = await open();
  await database.session(async (session) => {
    const lock = "CONCAT('holdfast-', LEFT(SHA2(CONCAT_WS('/', DATABASE(), 'outbox_'), 256), 40))";
    const [row] = await session.query(`SELECT GET_LOCK(${lock}, 0) AS locked`);
    expect(row).toEqual({ locked: 1 });
    expect(await migrate(other)).toEqual([1, 2, 3, 4, 5]);
    expect(await migrate(database, { prefix: "other_" })).toEqual([1, 2, 3, 4, 5]);
    let isDone = false;
    const waiting = migrate(database).finally(() => {
      isDone = true;
    });
    // The server has both requests by now: it answers one that came later.
    await database.query("SELECT SLEEP(0.3)");
    expect(isDone).toBe(false);
    await session.query(`SELECT RELEASE_LOCK(${lock})`);
    expect(await waiting).toEqual([1, 2, 3, 4, 5]);
  });
});

it("changes a table once, if a process ended before it said so", async () => {
  await using database = await open();
  await migrate(database);
  await database.query("DELETE FROM outbox_migration WHERE number = 2");
  expect(await migrate(database)).toEqual([2]);
  await database.query("DELETE FROM outbox_migration WHERE number = 5");
  expect(await migrate(database)).toEqual([5]);
  expect(await migrate(database)).toEqual([]);
});
