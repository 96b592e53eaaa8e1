import type { Clock } from "@holdfast/clock";

/** A condition to wait for. True, or a promise of true, ends the wait. */
export type Condition = (signal: AbortSignal) => boolean | PromiseLike<boolean>;

/** Options for all waits for a {@link Condition}. */
export interface ConditionOptions {
  /**
   * Ends the wait early: it rejects with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Receives each error of the condition and is awaited; the wait then continues as after false. If
   * it throws, the wait rejects with that error.
   *
   * @defaultValue none: the wait rejects with the first error
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;

  /**
   * Measures the delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/** Options for {@link pollUntil} and {@link delayUntil}. */
export interface PollUntilOptions extends ConditionOptions {
  /**
   * Whether the first call comes before the first delay.
   *
   * @defaultValue `true`
   */
  readonly immediate?: boolean | undefined;

  /**
   * Start of a delay. true: when the condition settles. false: when it is called.
   *
   * @defaultValue `false`
   */
  readonly sliding?: boolean | undefined;

  /**
   * Time limit of the whole wait, in milliseconds. At least 0, or `Infinity`. When it expires, the
   * wait rejects with a `TimeoutError`. 0 expires at once.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;
}
