import type { ResourceLock } from "@holdfast/controller";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { Redis } from "ioredis";

/** A lock with its connection. */
export interface OpenLock extends AsyncDisposable {
  readonly lock: ResourceLock;
}

/**
 * The lock of the recovery task: the same for all processes of a run.
 *
 * @param inDatabase - the lock without a Redis
 */
export function openLock(
  inDatabase: ResourceLock,
  redisUrl: string | undefined,
  onError: (error: Error) => void,
): OpenLock {
  if (redisUrl === undefined) return { lock: inDatabase, [Symbol.asyncDispose]: async () => {} };
  const redis = new Redis(redisUrl);
  redis.on("error", onError); // Otherwise it prints each.
  return {
    lock: new RedisLock(redis, { key: "holdfast-outbox-demo" }),
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  };
}
