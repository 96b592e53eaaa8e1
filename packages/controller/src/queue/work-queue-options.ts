import { type Clock, realClock } from "@holdfast/clock";
import {
  requireAbove,
  requireFunction,
  requireMethods,
  requireOptions,
} from "@holdfast/clock/internal";
import { ExponentialLimiter } from "../limit/exponential-limiter.ts";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import { noQueueMetrics, type QueueMetrics } from "./queue-metrics.ts";

/** How a {@link WorkQueue} behaves. */
export interface WorkQueueOptions<Item> {
  /**
   * A name for the queue. Fake clocks print it when a test is stuck.
   *
   * @defaultValue `"queue"`
   */
  readonly name?: string | undefined;

  /**
   * What an item is known by. Items with the same key are the same piece of work, and the latest of
   * them is handed out. Required unless items are strings: two objects that look alike are not the
   * same object, so a queue that compared objects would hold all of them.
   *
   * @defaultValue the item itself, which must then be a string
   */
  readonly keyOf?: ((item: Item) => string) | undefined;

  /**
   * Says how long a retry waits.
   *
   * @defaultValue an {@link ExponentialLimiter} with its defaults, on the queue's clock
   */
  readonly limiter?: RateLimiter | undefined;

  /**
   * Measures delays and waiting.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Is told what happens.
   *
   * @defaultValue {@link noQueueMetrics}
   */
  readonly metrics?: QueueMetrics | undefined;

  /**
   * How much waiting is worth one step of priority, in milliseconds. Above 0; with `Infinity` a low
   * priority may wait for ever.
   *
   * A key with priority 10 goes before one with 0 that has waited for less than ten times this.
   * Waiting counts from the first use of a priority on.
   *
   * @defaultValue `1_000`
   */
  readonly aging?: number | undefined;
}

/** The arguments of a new {@link WorkQueue}: only one of strings can do without a `keyOf`. */
export type WorkQueueArguments<Item> = [Item] extends [string]
  ? [options?: WorkQueueOptions<Item>]
  : [options: KeyedWorkQueueOptions<Item>];

/** The options of a {@link WorkQueue} whose items are no strings. */
export interface KeyedWorkQueueOptions<Item> extends WorkQueueOptions<Item> {
  /** What an item is known by; see {@link WorkQueueOptions.keyOf}. */
  readonly keyOf: (item: Item) => string;
}

/** The options with their defaults. */
export interface ResolvedWorkQueueOptions<Item> {
  readonly name: string;
  readonly keyOf: (item: Item) => string;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  /** Undefined if nobody listens. */
  readonly metrics: QueueMetrics | undefined;
  readonly aging: number;
}

/** @throws RangeError or TypeError if an option is out of its range */
export function resolveWorkQueue<Item>(
  options: WorkQueueOptions<Item>,
): ResolvedWorkQueueOptions<Item> {
  requireOptions("options", options);
  const { name = "queue", keyOf = itself, clock = realClock, aging = 1_000 } = options;
  requireFunction("options.keyOf", keyOf);
  requireMethods("options.clock", clock, ["monotonic", "afterFunc"]);
  requireAbove("options.aging", aging, 0);
  const { limiter = new ExponentialLimiter({ clock }), metrics = noQueueMetrics } = options;
  requireMethods("options.limiter", limiter, ["when", "forget", "requeues"]);
  requireMethods("options.metrics", metrics, Object.keys(noQueueMetrics));
  const listener = metrics === noQueueMetrics ? undefined : metrics;
  return { name, keyOf, limiter, clock, metrics: listener, aging };
}

/** Of an item that is a string. The queue refuses all other keys. */
function itself(item: unknown): string {
  return item as string;
}
