import type { Clock } from "@holdfast/clock";

/** What every loop that runs until told to stop can be told. */
export interface LoopOptions {
  /**
   * Gets what `fn` throws or rejects with; the loop then goes on after the normal delay. What this
   * function throws itself ends the loop, which rejects with it. `signal.reason` after the abort is
   * no error here either: the loop then resolves.
   *
   * @defaultValue none: an error ends the loop, which rejects with it
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** What a loop with a period can be told. */
export interface PeriodicOptions extends LoopOptions {
  /**
   * Measures the period.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}
