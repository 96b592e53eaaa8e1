import { findByCode } from "@holdfast/kit";

const CODE = "ERR_CLOCK_LIVELOCK";

/**
 * Too many timers fired in one `run`, `step` or `stepSync`, or too many without time moving.
 *
 * The message names the last timer to fire. `for (;;) await clock.sleep(0)` ends like this.
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
  readonly code: "ERR_CLOCK_LIVELOCK" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_CLOCK_LIVELOCK" = CODE;
  /** The number of timers that had fired. */
  readonly fired: number;
  /** The label of the last timer to fire, if it has one. */
  readonly last: string | undefined;

  /**
   * @param limit - the limit that was exceeded, as a clause
   * @param fired - the number of timers that had fired
   * @param last - the label of the last timer to fire
   */
  constructor(limit: string, fired: number, last: string | undefined) {
    super(`${limit}; the last timer to fire: ${last ?? "(no label)"}`);
    this.fired = fired;
    this.last = last;
  }
}

/**
 * Whether an error is a {@link LivelockError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if timers of a fake clock fire without end
 *
 * @example
 * ```ts
 * import { isLivelockError, LivelockError } from "@holdfast/clock/testing";
 *
 * console.log(isLivelockError(new LivelockError("maxTimers", 100_000, "poll")), isLivelockError(new Error("no"))); // => true false
 * ```
 */
export function isLivelockError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
