/** What a queue can tell about the work it has handed out, at any moment. Read it when you report. */
export interface WorkInFlight {
  /** How long all work in flight has been running, added up, in milliseconds. */
  readonly unfinished: number;

  /** How long the longest has been running, in milliseconds; 0 if nothing runs. */
  readonly longestRunning: number;
}

/**
 * What a {@link WorkQueue} reports, one call per fact. All durations are in milliseconds.
 *
 * Every method is called when the queue's own state is final, and must neither throw nor wait.
 *
 * | Method | client-go's name of it |
 * | --- | --- |
 * | `depth` | `workqueue_depth` |
 * | `added` | `workqueue_adds_total` |
 * | `started` | `workqueue_queue_duration_seconds` |
 * | `finished` | `workqueue_work_duration_seconds` |
 * | `retried` | `workqueue_retries_total` |
 * | `watch` | `workqueue_unfinished_work_seconds`, `workqueue_longest_running_processor_seconds` |
 */
export interface QueueMetrics {
  /**
   * How many keys of a priority wait to be handed out has changed. A key that is added while it is
   * in flight counts from then on, though it is handed out only after that.
   */
  depth(change: number, priority: number): void;

  /** A key waits to be handed out that did not before. */
  added(): void;

  /** A key is handed out, `queueDuration` after it was added or became due. */
  started(queueDuration: number): void;

  /** A hand-out is done, `workDuration` after it began. */
  finished(workDuration: number): void;

  /** A key is added with a delay, by a retry or otherwise. */
  retried(): void;

  /** Called once, by the queue's constructor, with what can be read from then on. */
  watch(work: WorkInFlight): void;
}

const ignore = (): void => {};

/** Reports nothing. A queue that is given this, or nothing, does not even read the clock for it. */
export const noQueueMetrics: QueueMetrics = {
  depth: ignore,
  added: ignore,
  started: ignore,
  finished: ignore,
  retried: ignore,
  watch: ignore,
};
