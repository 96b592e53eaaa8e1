/**
 * A leader election lock in Redis.
 *
 * @packageDocumentation
 */

export {
  ForgottenLeaseError,
  findForgottenLeaseError,
  isForgottenLeaseError,
  type RedisClient,
  RedisLock,
  type RedisLockOptions,
} from "./redis-lock.ts";
