/**
 * Work queue, rate limiters, reconcile loop, leader election, and a manager that starts and stops them.
 *
 * @packageDocumentation
 */

export { type ErrorClass, findError } from "@holdfast/clock";
export {
  isRetryAfterError,
  isTerminalError,
  RetryAfterError,
  type RetryAfterErrorOptions,
  TerminalError,
} from "@holdfast/wait";
export { Controller } from "./controller/controller.ts";
export type {
  ControllerArguments,
  ControllerOptions,
  ErrorOrigin,
  GiveUp,
  KeyedControllerOptions,
} from "./controller/controller-options.ts";
export type {
  ControllerState,
  ControllerStatus,
  ErrorStatus,
  InFlightStatus,
  ReconcileErrorStatus,
  SourceState,
  SourceStatus,
} from "./controller/controller-status.ts";
export type { ControllerMetrics, ReconcileOutcome } from "./controller-metrics.ts";
export {
  type ElectionState,
  type ElectionStatus,
  LeaderElector,
} from "./election/leader-elector.ts";
export type { LeaderElectorOptions } from "./election/leader-elector-options.ts";
export {
  isLeadershipLostError,
  type LeadershipLoss,
  LeadershipLostError,
} from "./election/leadership-lost-error.ts";
export type { LeaseRecord } from "./election/lease-record.ts";
export {
  isLockConflictError,
  LockConflictError,
} from "./election/lock-conflict-error.ts";
export { MemoryLock } from "./election/memory-lock.ts";
export type { ResourceLock, Versioned } from "./election/resource-lock.ts";
export type { KeyShards, SlotLeadership } from "./key-shards.ts";
export type { Leadership } from "./leadership.ts";
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
export { consoleLogger, defaultLogger, jsonLogger, type Logger, silentLogger } from "./logger.ts";
export { Manager } from "./manager/manager.ts";
export type {
  AddRunnableOptions,
  GroupOptions,
  ManagerOptions,
} from "./manager/manager-options.ts";
export type {
  ManagerState,
  ManagerStatus,
  RunnableState,
  RunnableStatus,
} from "./manager/manager-status.ts";
export type { Runnable } from "./manager/runnable.ts";
export {
  isRunnableError,
  RunnableError,
  type RunnableErrorOptions,
  type RunnableProblem,
} from "./manager/runnable-error.ts";
export type { SignalSource } from "./manager/stop-signals.ts";
export type { WorkItem } from "./queue/backlog.ts";
export { WorkQueue } from "./queue/work-queue.ts";
export type {
  AddOptions,
  DelayedKey,
  DrainOptions,
  DrainReport,
  KeyedWorkQueueOptions,
  QueueMetrics,
  WorkInFlight,
  WorkQueueArguments,
  WorkQueueOptions,
} from "./queue/work-queue-options.ts";
export type { ReconcileRequest, ReconcileResult, Reconciler } from "./reconcile/reconcile.ts";
export type { RunOptions } from "./run-options.ts";
export { Shards } from "./shards/shards.ts";
export type { ShardsOptions } from "./shards/shards-options.ts";
export type { FailingLock, ShardsStatus } from "./shards/shards-status.ts";
export { slotOf } from "./shards/slot-of.ts";
export { filterSource } from "./source/filter-source.ts";
export { fromCallback } from "./source/from-callback.ts";
export { fromIterable } from "./source/from-iterable.ts";
export { fromObservable, type Subscribable } from "./source/from-observable.ts";
export { mapSource } from "./source/map-source.ts";
export { type ResyncOptions, resync } from "./source/resync.ts";
export type { EnqueueOptions, Source, SourceContext } from "./source/source.ts";
