import { type Clock, realClock, type Timer } from "@holdfast/clock";
import {
  Grid,
  requireAtLeast,
  requireBoolean,
  requireFunction,
  requireOptions,
  requirePositive,
  requireSignal,
} from "@holdfast/clock/internal";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { defaultRandom, type Random } from "../delay/random.ts";
import { type BackoffManager, ReusedTimer } from "../loop/backoff-manager.ts";
import { JitteredBackoffManager } from "../loop/jittered-backoff-manager.ts";
import { Ticks } from "./ticks.ts";

/** What {@link every} can be told. */
export interface EveryOptions {
  /**
   * Ends the ticks: the iteration is then done, as if there were no more.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Measures the period.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * The largest share of the period by which a tick may come late at random. Finite, at least 0.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * Whether the first tick comes at once, or after a period.
   *
   * @defaultValue `false`
   */
  readonly immediate?: boolean | undefined;

  /**
   * When a period starts counting: true when the next tick is asked for, which in `for await` is
   * when the body has ended; false when the tick before was due.
   *
   * @defaultValue `false`
   */
  readonly sliding?: boolean | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * Ticks for `for await`, one every `period`, until the signal aborts or the loop is left.
 *
 * Ticks come at `start + period`, `start + 2 × period` and so on, where the start is the first time
 * that a tick is asked for. They do not drift. A body that outlasts its period is followed by one
 * tick at once; then they are on the grid again, and missed ones are not made up for. With
 * `sliding: true` there is always a whole period between the end of a body and the next tick.
 *
 * Nothing is armed before the first tick is asked for, and nothing is left when the loop ends by
 * `break`, `return`, an error of its body, or an abort. An abort during a body takes effect when the
 * body has ended. Where ticks are asked for by hand, `return()` is what ends them.
 *
 * @param period - milliseconds, finite, above 0
 * @param options - see {@link EveryOptions}
 * @returns an iterator over the instants of the ticks, in milliseconds on the `monotonic()` line of
 * the clock
 * @throws RangeError or TypeError if an argument is out of its range
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { every } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const stop = new AbortController();
 * clock.afterFunc(60_000, () => stop.abort());
 *
 * const seconds = await clock.run(async () => {
 *   const seen: number[] = [];
 *   for await (const tick of every(15_000, { signal: stop.signal, clock })) {
 *     seen.push((tick - start) / 1_000);
 *     await clock.sleep(4_000); // the work
 *   }
 *   return seen;
 * });
 * console.log(seconds); // => [ 15, 30, 45 ]
 * ```
 */
export function every(
  period: number,
  options: EveryOptions = {},
): AsyncIterableIterator<number, undefined> {
  requirePositive("period", period);
  requireOptions("options", options);
  const { clock = realClock, signal = new AbortController().signal } = options;
  const { immediate = false, sliding = false, jitter = 0, random = defaultRandom } = options;
  requireSignal("options.signal", signal);
  requireBoolean("options.immediate", immediate);
  requireBoolean("options.sliding", sliding);
  requireAtLeast("options.jitter", jitter, 0);
  requireFunction("options.random", random);
  const manager = sliding
    ? new JitteredBackoffManager({ duration: period, jitter, clock, random })
    : new GridManager(clock, period, () => random() * jitter * period);
  return new Ticks({ clock, manager, immediate, sliding, signal });
}

/**
 * Delays that end at the points of a grid, which starts with the first call. However late a call
 * comes, the next delay makes up for it; missed points are skipped.
 */
class GridManager implements BackoffManager {
  readonly #clock: Clock;
  readonly #timer: ReusedTimer;
  readonly #period: number;
  /** Added to each delay; does not move the grid. */
  readonly #extra: DelayFunc;
  #grid: Grid | undefined = undefined;

  constructor(clock: Clock, period: number, extra: DelayFunc) {
    this.#clock = clock;
    this.#timer = new ReusedTimer("options.clock", clock);
    this.#period = period;
    this.#extra = extra;
  }

  backoff(): Timer {
    const now = this.#clock.monotonic();
    const left = this.#grid?.next(now) ?? this.#period;
    this.#grid ??= new Grid(now, this.#period);
    return this.#timer.arm(left + this.#extra());
  }
}
