// The locks of slots in each store.
import { join } from "node:path";
import { FileLock } from "@holdfast/controller/file-lock";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import pg from "pg";

const kinds = {
  files: (folder) => ({
    lockOf: (name) => new FileLock(join(folder, name)),
    end: async () => {},
  }),
  async PostgreSQL(url) {
    const pool = new pg.Pool({ connectionString: url });
    await new PostgresLock(pool, { name: "any" }).createTable();
    return { lockOf: (name) => new PostgresLock(pool, { name }), end: () => pool.end() };
  },
  async MariaDB(url) {
    const pool = createPool(url);
    await new MySqlLock(pool, { name: "any" }).createTable();
    return { lockOf: (name) => new MySqlLock(pool, { name }), end: () => pool.end() };
  },
  Redis(url) {
    const redis = new Redis(url);
    const prefix = "shards";
    return {
      lockOf: (name) => new RedisLock(redis, { key: `${prefix}-${name}` }),
      end: async () => redis.disconnect(),
    };
  },
};

export async function lockOfStore(kind, url) {
  return await kinds[kind](url);
}
