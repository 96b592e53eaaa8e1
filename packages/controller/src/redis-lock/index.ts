/**
 * A leader election lock in Redis.
 *
 * @packageDocumentation
 */

export {
  ForgottenLeaseError,
  isForgottenLeaseError,
  type RedisClient,
  RedisLock,
  type RedisLockOptions,
} from "./redis-lock.ts";
