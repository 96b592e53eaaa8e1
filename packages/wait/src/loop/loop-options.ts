import type { Clock } from "@holdfast/clock";
import { func, type Kinds } from "@holdfast/kit";

/** Options for loops that run until their signal aborts. */
export interface LoopOptions {
  /**
   * Receives each error of `fn` and is awaited; the loop then continues after the normal delay. If it
   * throws, the loop rejects with that error, or resolves if the error is `signal.reason` after the
   * abort.
   *
   * @defaultValue none: the loop rejects with the first error
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** Options for loops with a period. */
export interface PeriodicOptions extends LoopOptions {
  /**
   * Measures the period.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

export const LOOP_OPTIONS: Kinds<LoopOptions> = { onError: func };
