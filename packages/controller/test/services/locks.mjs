// The locks of each store, for processes and their tests.
import { join } from "node:path";
import { FileLock } from "@holdfast/controller/file-lock";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import pg from "pg";

/** Locks with a client of their own, and `remove`, which deletes the record of one. */
const kinds = {
  files: (folder) => ({
    lockOf: (name) => new FileLock(join(folder, name)),
    end: async () => {},
  }),
  PostgreSQL(url) {
    const pool = new pg.Pool({ connectionString: url });
    const remove = (name) => pool.query("DELETE FROM holdfast_lock WHERE name = $1", [name]);
    return withTable({
      lockOf: (name) => new PostgresLock(pool, { name }),
      remove,
      end: () => pool.end(),
    });
  },
  MariaDB(url) {
    const pool = createPool(url);
    const remove = (name) => pool.query("DELETE FROM holdfast_lock WHERE name = ?", [name]);
    return withTable({
      lockOf: (name) => new MySqlLock(pool, { name }),
      remove,
      end: () => pool.end(),
    });
  },
  Redis(url) {
    const redis = new Redis(url);
    const lockOf = (key) => new RedisLock(redis, { key });
    return { lockOf, remove: (key) => redis.del(key), end: async () => redis.disconnect() };
  },
};

async function withTable(locks) {
  await locks.lockOf("any").createTable();
  return locks;
}

export async function locksOf(kind, url) {
  return await kinds[kind](url);
}
