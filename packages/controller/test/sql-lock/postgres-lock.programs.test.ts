import { createTableSql, PostgresLock } from "@holdfast/controller/postgres-lock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { testSqlLock } from "./sql-lock.contract.ts";

const record = { holder: "a", leaseDuration: 1_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };
const { signal } = new AbortController();

describe("PostgresLock on PGlite", () => {
  let pglite: Awaited<ReturnType<typeof emptyPGlite>>;
  beforeAll(async () => {
    pglite = await emptyPGlite();
  });
  afterAll(() => pglite.close());

  testSqlLock({
    make: (options) => new PostgresLock(pglite, options),
    run: (sql) => pglite.query(sql),
    createTableSql,
  });

  it("ends a request with the signal at once, and leaves no listener", async () => {
    const lock = new PostgresLock({ query: () => new Promise(() => {}) }, { name: "a" });
    const stop = new AbortController();
    const requests = [
      lock.get(stop.signal),
      lock.create(record, stop.signal),
      lock.update(record, "1", stop.signal),
    ].map(errorOf);
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await Promise.all(requests)).toEqual([reason, reason, reason]);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("rejects with the error of the client itself", async () => {
    const error = new Error("the server is away");
    const lock = new PostgresLock({ query: () => Promise.reject(error) }, { name: "a" });
    for (const request of [
      lock.get(signal),
      lock.create(record, signal),
      lock.update(record, "1", signal),
      lock.createTable(),
    ])
      expect(await errorOf(request)).toBe(error);
  });
});
