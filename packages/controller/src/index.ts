export {
  ExponentialLimiter,
  type ExponentialLimiterOptions,
} from "./limit/exponential-limiter.ts";
export { FastSlowLimiter, type FastSlowLimiterOptions } from "./limit/fast-slow-limiter.ts";
export { MaxOfLimiter, type MaxOfLimiterOptions } from "./limit/max-of-limiter.ts";
export type { RateLimiter } from "./limit/rate-limiter.ts";
export {
  TokenBucketLimiter,
  type TokenBucketLimiterOptions,
} from "./limit/token-bucket-limiter.ts";
export { noQueueMetrics, type QueueMetrics, type WorkInFlight } from "./metrics.ts";
export type { AddOptions } from "./queue/add-options.ts";
export type { DelayedKey, DrainReport } from "./queue/drain-report.ts";
export type { DrainOptions } from "./queue/drains.ts";
export type { HandOut } from "./queue/hand-out.ts";
export { WorkQueue } from "./queue/work-queue.ts";
export type {
  KeyedWorkQueueOptions,
  WorkQueueArguments,
  WorkQueueOptions,
} from "./queue/work-queue-options.ts";
