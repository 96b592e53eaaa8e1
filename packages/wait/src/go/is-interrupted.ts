import { isTimeoutError } from "../limit/timeout-error.ts";
import { isExhaustedError } from "./exhausted-error.ts";

/**
 * Whether a wait ended because it was cut short, not because something failed: time or attempts ran
 * out, or somebody aborted it.
 *
 * | Value | Interrupted |
 * | --- | --- |
 * | `TimeoutError`, {@link ExhaustedError} | yes, by their `code` |
 * | what `controller.abort()` and `clock.timeout()` give as reason, and what Node and `fetch` reject with then | yes, by the `name` of the platform: `AbortError`, `TimeoutError` |
 * | an error whose `cause` is one of these, at any depth | yes |
 * | a reason of your own, as in `controller.abort("bye")` | no: compare it with `signal.reason` |
 * | an `AggregateError` with one of these among its `errors` | no: another of them may be a failure |
 * | anything else | no |
 *
 * @param error - anything that was caught
 * @returns true if it says that a wait was interrupted
 *
 * Source: `Interrupted` of k8s.io/apimachinery/pkg/util/wait. `cause` stands where Go has `Unwrap`.
 *
 * @example
 * ```ts
 * import { isInterrupted } from "@holdfast/wait/go";
 *
 * const stop = new AbortController();
 * stop.abort();
 * console.log(isInterrupted(stop.signal.reason)); // => true
 * console.log(isInterrupted(new Error("no leader", { cause: stop.signal.reason }))); // => true
 * console.log(isInterrupted(new Error("connection refused"))); // => false
 * ```
 */
export function isInterrupted(error: unknown): boolean {
  const seen = new Set<unknown>();
  let link = error;
  while (typeof link === "object" && link !== null && !seen.has(link)) {
    const { name, cause } = link as Partial<Error>;
    if (isTimeoutError(link) || isExhaustedError(link) || NAMES.has(name)) return true;
    seen.add(link);
    link = cause;
  }
  return false;
}

/** What the platform calls its own interruptions; their codes differ from one maker to the next. */
const NAMES: ReadonlySet<unknown> = new Set(["AbortError", "TimeoutError"]);
