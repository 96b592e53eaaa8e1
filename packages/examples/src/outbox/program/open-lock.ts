import type { ResourceLock } from "@holdfast/controller";
import { Redis } from "ioredis";
import type { Database } from "../database/database.ts";
import { PostgresLock } from "../lock/postgres-lock.ts";
import { RedisLock } from "../lock/redis-lock.ts";

/** What {@link openLock} needs. */
export interface OpenLockOptions {
  readonly database: Database;
  /** Where the lock is; in the database if undefined. */
  readonly redisUrl: string | undefined;
  readonly onError: (error: Error) => void;
}

/** A lock with its connection. */
export interface OpenLock extends AsyncDisposable {
  readonly lock: ResourceLock;
}

/** The lock of the compensation task: the same for all processes of a run. */
export function openLock({ database, redisUrl, onError }: OpenLockOptions): OpenLock {
  if (redisUrl === undefined)
    return {
      lock: new PostgresLock(database, "compensation"),
      [Symbol.asyncDispose]: async () => {},
    };
  const redis = new Redis(redisUrl);
  redis.on("error", onError); // Otherwise it prints each.
  return {
    lock: new RedisLock(redis, { key: "holdfast-outbox-demo" }),
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  };
}
