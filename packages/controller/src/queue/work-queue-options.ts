import { type Clock, realClock } from "@holdfast/clock";
import { above, finite, func, type Kinds, methods, read, text } from "@holdfast/kit";
import { delay, rateLimiter } from "../kinds.ts";
import { ExponentialLimiter } from "../limit/exponential-limiter.ts";
import { LimiterClock } from "../limit/limiter-clock.ts";
import type { RateLimiter } from "../limit/rate-limiter.ts";

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

export const WORK_QUEUE_OPTIONS: Kinds<WorkQueueOptions<never>> = {
  name: text,
  keyOf: func,
  limiter: rateLimiter,
  clock: methods("monotonic", "afterFunc"),
  metrics: methods(...QUEUE_METRICS),
  aging: above(0),
  fairBy: func,
};

export const ADD_OPTIONS: Kinds<AddOptions> = {
  after: delay,
  priority: finite,
};

/** Options for a {@link WorkQueue}. */
export interface WorkQueueOptions<Item> {
  /**
   * Name of the queue, not empty. Fake clocks print it when a test is stuck.
   *
   * @defaultValue `"queue"`
   */
  readonly name?: string | undefined;

  /**
   * Key of an item. Items with the same key are the same piece of work, and the latest of them is
   * handed out. Required unless items are strings: two equal objects are not the same object, so a
   * queue that compared objects would hold both.
   *
   * @defaultValue the item itself, which must then be a string
   */
  readonly keyOf?: ((item: Item) => string) | undefined;

  /**
   * Delays of retries.
   *
   * @defaultValue an {@link ExponentialLimiter} with its defaults, on the queue's clock
   */
  readonly limiter?: RateLimiter | undefined;

  /**
   * Clock for delays and waiting times.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Receiver of the queue's metrics.
   *
   * @defaultValue none
   */
  readonly metrics?: QueueMetrics | undefined;

  /**
   * Waiting time that equals one step of priority, in milliseconds. Above 0; with `Infinity` a low
   * priority may wait forever.
   *
   * A key with priority 10 goes before one with 0 that has waited for less than ten times this.
   * Waiting counts from the first use of a priority on.
   *
   * @defaultValue `1_000`
   */
  readonly aging?: number | undefined;

  /**
   * The group of a key, such as its tenant: groups that have queued keys take turns, one key each, however many keys one
   * of them has. Priorities, waiting time and order count within a group. Called once for a key that is neither queued,
   * delayed nor in flight; an error of it, or a result that is not a string, throws from the `add`.
   *
   * @defaultValue none: all keys are one group
   */
  readonly fairBy?: ((key: string) => string) | undefined;
}

/** Arguments of a new {@link WorkQueue}: `keyOf` is optional only if items are strings. */
export type WorkQueueArguments<Item> = [Item] extends [string]
  ? [options?: WorkQueueOptions<Item>]
  : [options: KeyedWorkQueueOptions<Item>];

/** Options for a {@link WorkQueue} whose items are not strings. */
export interface KeyedWorkQueueOptions<Item> extends WorkQueueOptions<Item> {
  /** Key of an item; see {@link WorkQueueOptions.keyOf}. */
  readonly keyOf: (item: Item) => string;
}

/** The options with their defaults. */
export interface ResolvedWorkQueueOptions<Item> {
  readonly name: string;
  readonly keyOf: (item: Item) => string;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly metrics: QueueMetrics | undefined;
  readonly aging: number;
  readonly fairBy: ((key: string) => string) | undefined;
}

/** @throws RangeError or TypeError if an option is out of its range */
export function resolveWorkQueue<Item>(
  options: WorkQueueOptions<Item>,
): ResolvedWorkQueueOptions<Item> {
  const given = read("options", options, "WorkQueue", WORK_QUEUE_OPTIONS);
  const { name = "queue", keyOf = itself, clock = realClock, aging = 1_000 } = given;
  const { limiter = new ExponentialLimiter({ clock }), metrics, fairBy } = given;
  LimiterClock.use(limiter, clock);
  return { name, keyOf, limiter, clock, metrics, aging, fairBy };
}

/** Key of an item that is a string. Queues and controllers reject any other key. */
export function itself(item: unknown): string {
  return item as string;
}

/** Options for `WorkQueue.add`. */
export interface AddOptions {
  /**
   * Delay before the key is queued, in milliseconds. 0 and below mean now; `Infinity` means until the
   * key is added again. The earliest of several times for one key holds.
   *
   * @defaultValue `0`
   */
  readonly after?: number | undefined;

  /**
   * Priority of the key: higher goes first. Any finite number. The highest of several priorities for
   * one key holds until the key is taken. A queued key whose priority rises waits as of then, unless its old
   * place is better. A key in flight waits as of the first add since it was taken.
   *
   * @defaultValue `0`
   */
  readonly priority?: number | undefined;
}

/** Options for `WorkQueue.drain`. */
export interface DrainOptions {
  /**
   * Maximum wait in milliseconds. At least 0, which reports at once, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * Ends the wait: the promise rejects at once with `signal.reason`. The queue stays shut down.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** A key that was delayed when its queue was shut down. */
export interface DelayedKey<Item> {
  /** The key. */
  readonly key: string;
  /** The latest item that was added with this key. */
  readonly item: Item;
  /** The rest of its delay, in milliseconds: pass it to `add` of another queue. */
  readonly after: number;
}

/** The keys that a drained {@link WorkQueue} had left. */
export interface DrainReport<Item> {
  /** Whether every key that was queued or in flight is done. */
  readonly finished: boolean;
  /** The keys still in flight. Empty if `finished`. */
  readonly running: readonly string[];
  /**
   * The keys still queued, in their order, then those added again while in flight. Empty if
   * `finished`.
   */
  readonly queued: readonly string[];
  /** The delayed keys, the earliest first. They are never queued. */
  readonly delayed: readonly DelayedKey<Item>[];
}

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
