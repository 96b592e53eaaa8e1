import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import type { ResourceLock } from "@holdfast/controller";
import { FileLock } from "@holdfast/controller/file-lock";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { RedisLock } from "@holdfast/controller/redis-lock";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { afterEach, expect, it, vi } from "vitest";

const directories: string[] = [];

afterEach(() => {
  vi.restoreAllMocks();
  for (const directory of directories.splice(0))
    rmSync(directory, { recursive: true, force: true });
});

/** A server that answers every request as after a write. */
const LOCKS: Record<string, (random: Random | undefined) => ResourceLock> = {
  FileLock: (random) => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-test-"));
    directories.push(directory);
    return new FileLock(directory, { clock: new FakeClock(), random });
  },
  PostgresLock: (random) =>
    new PostgresLock({ query: async () => ({ rows: [{}] }) }, { name: "a", random }),
  MySqlLock: (random) =>
    new MySqlLock({ execute: async () => [{ affectedRows: 1 }, undefined] }, { name: "a", random }),
  RedisLock: (random) => {
    const evaluate = async (_: string, __: number, ...values: string[]) =>
      values.length === 1 ? ["none:x", null, 1] : ["written", 0];
    return new RedisLock({ eval: evaluate }, { key: "a", random });
  },
};

async function versionsOf(lock: ResourceLock): Promise<string[]> {
  const { signal } = new AbortController();
  const record = { holder: "a", leaseDuration: 1, acquiredAt: 0, renewedAt: 0, transitions: 1 };
  const created = await lock.create(record, signal);
  const updated = await lock.update(record, created.version, signal);
  return [created.version, updated.version];
}

it.each(Object.entries(LOCKS))("the ids of %s are a function of `random`", async (_, lockOf) => {
  const drawn = vi.spyOn(globalThis.crypto, "randomUUID").mockImplementation(() => {
    throw new Error("randomUUID was reached");
  });
  const first = await versionsOf(lockOf(seededRandom(7)));
  expect(await versionsOf(lockOf(seededRandom(7)))).toEqual(first);
  const other = await versionsOf(lockOf(seededRandom(8)));
  expect(new Set([...first, ...other]).size).toBe(4);
  const uuid = /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/;
  for (const version of first) expect(version).toMatch(uuid);
  expect(drawn).not.toHaveBeenCalled();
});

it.each(Object.entries(LOCKS))(
  "no two of %s have an id in common by default",
  async (_, lockOf) => {
    const versions = [
      ...(await versionsOf(lockOf(undefined))),
      ...(await versionsOf(lockOf(undefined))),
    ];
    expect(new Set(versions).size).toBe(4);
  },
);
