/**
 * How a reconcile ended, as a metric's label.
 *
 * | Word | The reconcile |
 * | --- | --- |
 * | `success` | returned, and asked for nothing |
 * | `requeue_after` | returned, and asked to be run again |
 * | `error` | failed, and will be retried |
 * | `timeout` | failed after its timeout was over, and will be retried |
 * | `terminal` | failed with a `TerminalError`, and will not be retried |
 * | `gave_up` | failed once more than it may |
 * | `interrupted` | stopped because the controller does |
 */
export type ReconcileResult =
  | "success"
  | "requeue_after"
  | "error"
  | "timeout"
  | "terminal"
  | "gave_up"
  | "interrupted";

/**
 * What a `Controller` reports, one call per fact. All durations are in milliseconds.
 *
 * Every method is called when the controller's own state is final, and must not wait. What it throws
 * is logged.
 *
 * | Method | controller-runtime's name of it |
 * | --- | --- |
 * | `reconciled` | `controller_runtime_reconcile_total`, `…_errors_total`, `…_terminal_errors_total`, `…_timeouts_total`, `…_time_seconds` |
 * | `activeWorkers` | `controller_runtime_active_workers` |
 * | `maxWorkers` | `controller_runtime_max_concurrent_reconciles` |
 */
export interface ControllerMetrics {
  /**
   * A reconcile has ended, `duration` after it began. `isLate` says whether its timeout was over by
   * then, whatever the result.
   */
  reconciled(result: ReconcileResult, duration: number, isLate: boolean): void;

  /** How many workers are busy has changed. A worker that left a stuck reconcile is not busy. */
  activeWorkers(change: number): void;

  /** Called once, by the controller's constructor, with how many workers it has. */
  maxWorkers(count: number): void;
}

const ignore = (): void => {};

/** Reports nothing. */
export const noControllerMetrics: ControllerMetrics = {
  reconciled: ignore,
  activeWorkers: ignore,
  maxWorkers: ignore,
};
