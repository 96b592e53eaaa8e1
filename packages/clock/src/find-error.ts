import { findByCode, requireString } from "@holdfast/kit";

/** A class of errors with a stable `code`: each error class of these packages. */
export interface ErrorClass<Found extends Error> {
  /** The `code` of its errors, the same in all versions and copies of the package. */
  readonly code: string;
  /** What its errors are. */
  readonly prototype: Found;
}

/**
 * The first error of a class among an error and its causes, of this copy of the package or another. `instanceof` sees
 * neither causes nor another copy.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @param Class - an error class of these packages, or any with a static `code` that its errors have too
 * @returns the error, with its fields; undefined if there is none
 * @throws TypeError if the class has no `code`
 *
 * Source: `errors.As` of Go.
 *
 * @example
 * ```ts
 * import { findError } from "@holdfast/clock";
 * import { LivelockError } from "@holdfast/clock/testing";
 *
 * const caught: unknown = new Error("no luck", { cause: new LivelockError("maxTimers", 100_000, "poll") });
 * console.log(findError(caught, LivelockError)?.last); // => poll
 * ```
 */
export function findError<Found extends Error>(
  error: unknown,
  Class: ErrorClass<Found>,
): Found | undefined {
  requireString("Class.code", Class?.code);
  return findByCode<Found>(error, Class.code);
}
