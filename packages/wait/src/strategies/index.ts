/**
 * Further shapes of delays: decorrelated and symmetric jitter, gRPC, IEEE 802.3; and help for shapes of your own.
 *
 * @packageDocumentation
 */

export type { SpreadOptions } from "../delay/capped-jitter.ts";
export { seededRandom } from "../delay/random.ts";
export { strategyOf } from "../delay/strategy-of.ts";
export { AttemptBackoff, type AttemptBackoffOptions } from "./attempt-backoff.ts";
export {
  BinaryExponentialBackoff,
  type BinaryExponentialBackoffOptions,
  ExcessiveCollisionsError,
  isExcessiveCollisionsError,
} from "./binary-exponential-backoff.ts";
export {
  DecorrelatedJitterBackoff,
  type DecorrelatedJitterBackoffOptions,
} from "./decorrelated-jitter-backoff.ts";
export { expectedSlots } from "./expected-slots.ts";
export { GrpcBackoff, type GrpcBackoffOptions, grpcBackoff } from "./grpc-backoff.ts";
export {
  SymmetricJitterBackoff,
  type SymmetricJitterBackoffOptions,
} from "./symmetric-jitter-backoff.ts";
