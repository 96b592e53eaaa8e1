/** Ages of the work in flight of a queue, computed at each read. Read them when you report. */
export interface WorkInFlight {
  /** Sum of the ages of all work in flight, in milliseconds. */
  readonly unfinished: number;

  /** Age of the oldest work in flight, in milliseconds; 0 if there is none. */
  readonly longestRunning: number;
}

/**
 * Receiver of the facts that a {@link WorkQueue} measures, one call per fact. All durations are in
 * milliseconds.
 *
 * Every method is called when the queue's own state is final, and must neither throw nor block. Leave
 * the option `metrics` out if you need none: the queue then reads the clock less often.
 *
 * | Method | Name in client-go |
 * | --- | --- |
 * | `depth` | `workqueue_depth` |
 * | `added` | `workqueue_adds_total` |
 * | `started` | `workqueue_queue_duration_seconds` |
 * | `finished` | `workqueue_work_duration_seconds` |
 * | `retried` | `workqueue_retries_total` |
 * | `watch` | `workqueue_unfinished_work_seconds`, `workqueue_longest_running_processor_seconds` |
 * | `ended` | none: gauges of the queue end here |
 */
export interface QueueMetrics {
  /**
   * The number of keys of a priority that wait to be taken has changed. A key added while in flight
   * counts from then on, though it is queued only when its work is done.
   */
  depth(change: number, priority: number): void;

  /** A key that did not wait to be taken now does. */
  added(): void;

  /** A key was taken, `queueDuration` after it was added or became due. */
  started(queueDuration: number): void;

  /** A work item is done, `workDuration` after it was taken. */
  finished(workDuration: number): void;

  /** A key was added with a delay, by a retry or otherwise. */
  retried(): void;

  /** Called once, by the queue's constructor, with ages that stay readable. */
  watch(work: WorkInFlight): void;

  /** Called once, when the queue has ended: after a drain, or when it is shut down and its last key is done. */
  ended(): void;
}

/** The methods of {@link QueueMetrics}. */
export const QUEUE_METRICS: readonly (keyof QueueMetrics)[] = [
  "depth",
  "added",
  "started",
  "finished",
  "retried",
  "watch",
  "ended",
];
