import {
  finite,
  finiteFrom,
  func,
  type Kinds,
  kind,
  MAX_RETRY_AFTER,
  read,
  requireAbove,
  required,
  requireFinite,
  retryAfterOf,
} from "@holdfast/kit";

import { Backoff, type DelayFunc, type Random } from "@holdfast/wait";
import { loop } from "@holdfast/wait/loop";

import type { Source } from "./source.ts";

export const RESYNC_OPTIONS: Kinds<ResyncOptions<never>> = {
  list: required(func),
  interval: required(kind("interval", requireInterval)),
  jitter: finiteFrom(0),
  priority: finite,
  random: func,
};

/** Delays after a list that has failed, in milliseconds: shorter than a controller waits for the list of a slot. */
const RETRY = { duration: 1_000, factor: 2, cap: 30_000, jitter: 0.2 };

/** Options for {@link resync}. */
export interface ResyncOptions<Item> {
  /**
   * Lists all items. An error is reported, and the list is tried again after 1 s, 2 s and so on, up to 30 s, or after the
   * longer delay of a `RetryAfterError`, but at the latest after the interval.
   */
  readonly list: (
    signal: AbortSignal,
  ) => Iterable<Item> | AsyncIterable<Item> | PromiseLike<Iterable<Item>>;

  /** Delay between the end of one list and the next, in milliseconds. Above 0, finite. */
  readonly interval: number;

  /**
   * Maximum share of an interval that is added to it at random. Finite, at least 0.
   *
   * @defaultValue `0`
   */
  readonly jitter?: number | undefined;

  /**
   * Priority of the listed items. Below 0, events go first.
   *
   * @defaultValue `0`
   */
  readonly priority?: number | undefined;

  /**
   * Source of jitter.
   *
   * @defaultValue the `random` of the controller, or else `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * A source that enqueues all items at the start and once per interval, so changes with lost events are
 * still found. A list that fails is tried again sooner. Its name, and the reason of its items, is `"resync"`.
 *
 * @param options - see {@link ResyncOptions}
 * @returns the source
 * @throws RangeError or TypeError if an option is out of its range
 *
 * Source: the resync period of informers of k8s.io/client-go/tools/cache.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { Controller, resync } from "@holdfast/controller";
 *
 * const clock = new FakeClock();
 * const stop = new AbortController();
 * const controller = new Controller({
 *   name: "files",
 *   sources: [resync({ list: () => ["a", "b"], interval: 60_000 })],
 *   reconcile: ({ key, reason }) => console.log(key, reason),
 *   clock,
 * });
 * const running = controller.run(stop.signal);
 * await clock.step(59_999);
 * // => a resync
 * // => b resync
 * stop.abort();
 * await running;
 * ```
 */
export function resync<Item = string>(options: ResyncOptions<Item>): Source<Item> {
  const given = read("options", options, "resync", RESYNC_OPTIONS);
  const { list, interval, jitter = 0, priority = 0, random } = given;
  return {
    name: "resync",
    start({ enqueue, failed, clock, random: shared, listed }, signal) {
      const chance = random ?? shared;
      const planned = new Backoff({ duration: interval, jitter, random: chance }).delayFunc();
      /** The delays since the last list that was complete. */
      let retries: DelayFunc | undefined;
      let named = 0;
      const enqueueAll = async (): Promise<void> => {
        for await (const item of await list(signal)) {
          if (signal.aborted) return;
          enqueue(item, { priority });
        }
        retries = undefined;
        listed?.();
      };
      const onError = (error: unknown): void => {
        retries ??= new Backoff({ ...RETRY, random: chance }).delayFunc();
        named = retryAfterOf(error, MAX_RETRY_AFTER) ?? 0;
        failed(error);
      };
      const delay = (): number =>
        retries === undefined ? planned() : Math.min(Math.max(retries(), named), interval);
      return loop({ run: enqueueAll, delay, signal, clock, onError }).then(() => {});
    },
  };
}

function requireInterval(path: string, interval: number): void {
  requireAbove(path, requireFinite(path, interval), 0);
}
