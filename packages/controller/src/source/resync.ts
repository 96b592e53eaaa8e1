import {
  requireAbove,
  requireAtLeast,
  requireFinite,
  requireFunction,
  requireHooks,
  requireOptions,
} from "@holdfast/clock/internal";
import type { Random } from "@holdfast/wait";
import { jitterUntil } from "@holdfast/wait/go";
import { isStop } from "../is-stop.ts";
import type { Source } from "./source.ts";

/** How often {@link resync} looks at everything. */
export interface ResyncOptions<Item> {
  /** Lists all there is. If it throws or rejects, that is an error, and the next period comes. */
  readonly list: (
    signal: AbortSignal,
  ) => Iterable<Item> | AsyncIterable<Item> | PromiseLike<Iterable<Item>>;

  /** From the end of one list to the next, in milliseconds. Above 0, finite. */
  readonly period: number;

  /**
   * The largest share of a period that may be added to it at random. Finite, at least 0.
   *
   * @defaultValue `0`
   */
  readonly jitter?: number | undefined;

  /**
   * The priority of what is listed; below 0 lets events go first.
   *
   * @defaultValue `0`
   */
  readonly priority?: number | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * A source of everything, at the start and again and again: what an event was missed for is seen then.
 * Its name, and the reason of what it enqueues, is `"resync"`.
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
 *   sources: [resync({ list: () => ["a", "b"], period: 60_000 })],
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
  requireOptions("options", options);
  const { list, period, jitter = 0, priority = 0, random } = options;
  requireFunction("options.list", list);
  requireAbove("options.period", requireFinite("options.period", period), 0);
  requireAtLeast("options.jitter", jitter, 0);
  requireFinite("options.priority", priority);
  requireHooks("options", options, ["random"]);
  return {
    name: "resync",
    start({ enqueue, failed, clock }, signal) {
      const enqueueAll = async (): Promise<void> => {
        for await (const item of await list(signal)) {
          if (signal.aborted) return;
          enqueue(item, { priority });
        }
      };
      const onError = (error: unknown): void => {
        if (!isStop(error, signal)) failed(error);
      };
      return jitterUntil(enqueueAll, period, signal, { jitter, clock, random, onError });
    },
  };
}
