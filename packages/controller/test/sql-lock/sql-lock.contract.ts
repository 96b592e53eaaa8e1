import { realClock } from "@holdfast/clock";
import type { ResourceLock } from "@holdfast/controller";
import { beforeAll, expect, it } from "vitest";
import { BOTH, callersOf } from "../../../../test/callers.ts";
import { testResourceLock } from "../../../../test/resource-lock.contract.ts";

const record = { holder: "a", leaseDuration: 1_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };
const { signal } = new AbortController();

interface SqlLock extends ResourceLock {
  createTable(): Promise<void>;
}

/** A kind of lock on one database. */
export interface SqlLockUnderTest {
  make(options: { readonly name: string; readonly table?: string }): SqlLock;
  /** Runs a statement. */
  run(sql: string): Promise<unknown>;
  createTableSql(table?: string): string;
}

/** Requirements of every lock that is a row of a database. */
export function testSqlLock({ make, run, createTableSql }: SqlLockUnderTest): void {
  let locks = 0;
  const next = (): SqlLock => make({ name: `lock-${++locks}` });
  beforeAll(() => next().createTable(), 120_000);

  testResourceLock("as a lock", next);

  it("creates its table once, also when many start at once", async () => {
    const lock = make({ name: "a", table: "at_once" });
    await Promise.all(Array.from({ length: 10 }, () => lock.createTable()));
    await lock.create(record, signal);
    await lock.createTable();
    expect((await lock.get(signal))?.record).toEqual(record);
  });

  it("names createTable in the error of each request without a table", async () => {
    const lock = make({ name: "a", table: "no_such_lock" });
    for (const request of [
      () => lock.get(signal),
      () => lock.list?.([lock], signal),
      () => lock.create(record, signal),
      () => lock.update(record, "1", signal),
    ]) {
      const { error, callers } = await callersOf(request as () => Promise<unknown>);
      const { message, code, cause } = error as Error & { readonly code: unknown };
      expect(message).toMatch(/no_such_lock['"].*: create it by createTable\(\) of a lock/);
      expect([callers, typeof code]).toEqual([BOTH, "string"]);
      expect(cause).toMatchObject({ code });
    }
  });

  it("works on a table of one's own migration", async () => {
    await run(createTableSql("own_lock_2"));
    const lock = make({ name: "a", table: "own_lock_2" });
    const { version } = await lock.create(record, signal);
    expect(await lock.get(signal)).toEqual({ record, version });
    expect(lock.description).toBe("row a of own_lock_2");
    expect(await make({ name: "a" }).get(signal)).toBeUndefined();
  });

  it("gives a recreated record a new version", async () => {
    const lock = make({ name: "recreated" });
    const versions: string[] = [];
    for (let round = 0; round < 3; round++) {
      const first = await lock.create(record, signal);
      const second = await lock.update(record, first.version, signal);
      versions.push(first.version, second.version);
      await run("DELETE FROM holdfast_lock WHERE name = 'recreated'");
    }
    expect(new Set(versions).size).toBe(6);
  });

  it("begins with the milliseconds of the server, above the tokens of a row that was removed", async () => {
    const lock = make({ name: "removed" });
    expect(lock.firstToken).toBe(0);
    const before = Date.now();
    await lock.get(signal);
    const first = lock.firstToken as number;
    expect(first).toBeGreaterThanOrEqual(before);
    expect(first).toBeLessThanOrEqual(Date.now());
    expect(Number.isSafeInteger(first)).toBe(true);
    await lock.create({ ...record, transitions: first }, signal);
    await realClock.sleep(2);
    await lock.get(signal);
    expect(lock.firstToken).toBe(first);
    await run("DELETE FROM holdfast_lock WHERE name = 'removed'");
    const fresh = make({ name: "removed" });
    await fresh.get(signal);
    expect(fresh.firstToken).toBeGreaterThan(first);
  });

  it("keeps a number exact and a text as it is", async () => {
    const lock = make({ name: "exact'; --" });
    const exact = {
      holder: "ü\\'\"$1?%😀 ",
      leaseDuration: 0.1,
      acquiredAt: 1_700_000_000_000.5,
      renewedAt: -1,
      transitions: Number.MAX_SAFE_INTEGER,
    };
    const written = await lock.create(exact, signal);
    expect(written.record).toEqual(exact);
    expect(await lock.get(signal)).toEqual(written);
  });

  it.each([
    ["y", "y "],
    ["k", "K"],
    ["u", "ü"],
  ])("distinguishes the names %j and %j", async (one, other) => {
    await make({ name: one }).create(record, signal);
    await make({ name: other }).create(record, signal);
  });

  it("rejects before its table exists", async () => {
    await expect(make({ name: "a", table: "nowhere" }).get(signal)).rejects.toThrow(/nowhere/);
  });
}
