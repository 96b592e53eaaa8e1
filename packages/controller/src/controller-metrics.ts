/**
 * The end of a reconcile, as the label of a metric.
 *
 * | Word | The reconcile |
 * | --- | --- |
 * | `success` | returned without `requeueAfter` |
 * | `requeue_after` | returned `requeueAfter` |
 * | `error` | failed; the key is retried |
 * | `timeout` | failed after its timeout; the key is retried |
 * | `terminal` | failed with a `TerminalError`; the key is not retried |
 * | `gave_up` | failed more often than `retries` allows |
 * | `interrupted` | failed after the stopping controller aborted its signal |
 */
export type ReconcileOutcome =
  | "success"
  | "requeue_after"
  | "error"
  | "timeout"
  | "terminal"
  | "gave_up"
  | "interrupted";

/**
 * Receiver of the facts that a `Controller` measures, one call per fact. All durations are in
 * milliseconds.
 *
 * Methods are called once the controller's own state is final, and must not block. Their errors are
 * logged.
 *
 * | Method | Name in controller-runtime |
 * | --- | --- |
 * | `reconciled` | `controller_runtime_reconcile_total`, `…_errors_total`, `…_terminal_errors_total`, `…_timeouts_total`, `…_time_seconds` |
 * | `activeWorkers` | `controller_runtime_active_workers` |
 * | `maxWorkers` | `controller_runtime_max_concurrent_reconciles` |
 */
export interface ControllerMetrics {
  /**
   * A reconcile has ended, `duration` after it began. `isLate`: whether its timeout had expired, for
   * any outcome.
   */
  reconciled(outcome: ReconcileOutcome, duration: number, isLate: boolean): void;

  /** The number of busy workers has changed. A worker that left a stuck reconcile is not busy. */
  activeWorkers(change: number): void;

  /** Called once, by the controller's constructor, with the number of workers. */
  maxWorkers(count: number): void;
}

/** The methods of {@link ControllerMetrics}. */
export const CONTROLLER_METRICS: readonly (keyof ControllerMetrics)[] = [
  "reconciled",
  "activeWorkers",
  "maxWorkers",
];
