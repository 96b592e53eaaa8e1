import type { Clock } from "@holdfast/clock";

/** What is asked again and again. True, or a promise of true, ends the wait. */
export type Condition = (signal: AbortSignal) => boolean | PromiseLike<boolean>;

/** What every wait for a {@link Condition} can be told. */
export interface ConditionOptions {
  /**
   * Ends the wait early: it rejects with `signal.reason`, the same object.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Gets what the condition throws or rejects with; the wait then goes on as after false. What this
   * function throws itself ends the wait, which rejects with it.
   *
   * @defaultValue none: an error ends the wait, which rejects with it
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;

  /**
   * Measures the delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/** What {@link pollUntil} and {@link delayUntil} can be told. */
export interface PollUntilOptions extends ConditionOptions {
  /**
   * Whether the condition is asked before the first delay.
   *
   * @defaultValue `true`
   */
  readonly immediate?: boolean | undefined;

  /**
   * When a delay starts counting: true after the condition has settled, false when it is asked.
   *
   * @defaultValue `false`
   */
  readonly sliding?: boolean | undefined;

  /**
   * After how long the wait rejects with a `TimeoutError`, in milliseconds. At least 0, or
   * `Infinity`. 0 is over at once.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;
}
