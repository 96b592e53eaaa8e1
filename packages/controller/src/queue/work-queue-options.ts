import { type Clock, realClock } from "@holdfast/clock";
import {
  type OptionNames,
  requireAbove,
  requireFunction,
  requireMethods,
  requireOptions,
  requireText,
} from "@holdfast/clock/internal";
import { ExponentialLimiter } from "../limit/exponential-limiter.ts";
import { LimiterClock } from "../limit/limiter-clock.ts";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import { QUEUE_METRICS, type QueueMetrics } from "./queue-metrics.ts";

const OPTIONS: OptionNames<WorkQueueOptions<never>> = {
  name: true,
  keyOf: true,
  limiter: true,
  clock: true,
  metrics: true,
  aging: true,
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
}

/** @throws RangeError or TypeError if an option is out of its range */
export function resolveWorkQueue<Item>(
  options: WorkQueueOptions<Item>,
): ResolvedWorkQueueOptions<Item> {
  requireOptions("options", options, "WorkQueue", OPTIONS);
  const { name = "queue", keyOf = itself, clock = realClock, aging = 1_000 } = options;
  requireText("options.name", name);
  requireFunction("options.keyOf", keyOf);
  requireMethods("options.clock", clock, ["monotonic", "afterFunc"]);
  requireAbove("options.aging", aging, 0);
  const { limiter = new ExponentialLimiter({ clock }), metrics } = options;
  requireMethods("options.limiter", limiter, ["when", "forget", "requeues"]);
  LimiterClock.use(limiter, clock);
  if (metrics !== undefined) requireMethods("options.metrics", metrics, QUEUE_METRICS);
  return { name, keyOf, limiter, clock, metrics, aging };
}

/** Key of an item that is a string. The queue rejects any other key. */
function itself(item: unknown): string {
  return item as string;
}
