import * as mysql from "@holdfast/outbox/mysql";
import * as postgres from "@holdfast/outbox/postgres";
import { describe, expect, it } from "vitest";

const longest = `v2_${"x".repeat(27)}`;

describe.each([
  ["PostgreSQL", postgres.migrationSql, 63 - "_seq".length],
  ["MySQL", mysql.migrationSql, 64],
])("the SQL of all migrations of %s", (_, migrationSql, most) => {
  it("has no name that is too long with the longest prefix", () => {
    const names = migrationSql({ prefix: longest }).match(/v2_x+\w*/g) ?? [];
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => name.length > most)).toEqual([]);
  });

  it("ends with the last number, and names it", () => {
    const numbers = [...migrationSql().matchAll(/VALUES \((\d+), '/g)].map(([, n]) => Number(n));
    expect(numbers).toEqual(Array.from(numbers, (_number, at) => at + 1));
    const last = numbers.length;
    expect(migrationSql({ from: last })).toContain(`VALUES (${last}, '`);
    expect(migrationSql({ from: last })).not.toContain(`VALUES (${last - 1}, '`);
    expect(() => migrationSql({ from: last + 1 })).toThrow(
      new RangeError(`options.from must be at most ${last}, the last migration, got ${last + 1}`),
    );
  });

  it("has the table of the lock, unless it is told not to", () => {
    expect(migrationSql()).toContain("CREATE TABLE IF NOT EXISTS holdfast_lock (");
    expect(migrationSql({ lock: false })).not.toContain("holdfast_lock");
  });
});
