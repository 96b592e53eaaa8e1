/**
 * A leader election lock in Redis.
 *
 * @packageDocumentation
 */

export {
  ForgottenLeaseError,
  findForgottenLeaseError,
  isForgottenLeaseError,
} from "./forgotten-lease-error.ts";
export { type RedisClient, RedisLock, type RedisLockOptions } from "./redis-lock.ts";
