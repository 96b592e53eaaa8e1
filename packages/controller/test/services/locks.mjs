// The locks of servers, for processes and their tests.
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import pg from "pg";

const NAME = "killed";

/** A lock with a client of its own, and `remove`, which deletes its record. */
const kinds = {
  PostgreSQL(url) {
    const pool = new pg.Pool({ connectionString: url });
    const remove = () => pool.query("DELETE FROM holdfast_lock");
    return { lock: new PostgresLock(pool, { name: NAME }), remove, end: () => pool.end() };
  },
  MariaDB(url) {
    const pool = createPool(url);
    const remove = () => pool.query("DELETE FROM holdfast_lock");
    return { lock: new MySqlLock(pool, { name: NAME }), remove, end: () => pool.end() };
  },
  Redis(url) {
    const redis = new Redis(url);
    const remove = () => redis.del(NAME);
    return { lock: new RedisLock(redis, { key: NAME }), remove, end: () => redis.disconnect() };
  },
};

export function connect(kind, url) {
  return kinds[kind](url);
}
