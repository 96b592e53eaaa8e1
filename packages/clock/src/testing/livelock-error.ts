/**
 * A drive of a fake clock would not end: too many timers fired, or too many without time moving.
 *
 * The message names the timer that fired last. `for (;;) await clock.sleep(0)` ends like this.
 *
 * @example
 * ```ts
 * import { FakeClock, LivelockError } from "@holdfast/clock/testing";
 *
 * const clock = new FakeClock();
 * const spin = clock.run(async () => {
 *   for (;;) await clock.sleep(1, { label: "spinner" });
 * }, { maxTimers: 1_000, turns: 0 });
 * const error = await spin.catch((reason: unknown) => reason);
 * console.log(error instanceof LivelockError, (error as LivelockError).last); // => true spinner
 * ```
 */
export class LivelockError extends Error {
  override readonly name = "LivelockError";
  /** Stable across versions and copies of this package. */
  readonly code = "ERR_CLOCK_LIVELOCK";
  /** How many timers had fired. */
  readonly fired: number;
  /** The label of the timer that fired last, if it has one. */
  readonly last: string | undefined;

  /**
   * @param what - which limit was passed, as a sentence
   * @param fired - how many timers had fired
   * @param last - the label of the timer that fired last
   */
  constructor(what: string, fired: number, last: string | undefined) {
    super(`${what}; the last timer to fire: ${last ?? "(no label)"}`);
    this.fired = fired;
    this.last = last;
  }
}
