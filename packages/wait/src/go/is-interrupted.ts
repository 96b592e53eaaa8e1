import { isTimeoutError } from "../limit/timeout-error.ts";
import { isExhaustedError } from "./exhausted-error.ts";

/**
 * Whether an error says that a wait was interrupted: by a timeout, by its number of attempts or by an
 * abort.
 *
 * | Value | Result |
 * | --- | --- |
 * | `TimeoutError`, {@link ExhaustedError} | true, by `code` |
 * | the default reasons of `controller.abort()` and `clock.timeout()`, and the errors of Node and `fetch` for them | true, by `name`: `AbortError` or `TimeoutError` |
 * | an error whose `cause` is one of these, at any depth | true |
 * | a custom reason, as in `controller.abort("bye")` | false: compare it with `signal.reason` |
 * | an `AggregateError` with one of these among its `errors` | false: another of them may be a failure |
 * | any other value | false |
 *
 * @param error - anything that was caught
 * @returns true if a wait was interrupted
 *
 * Source: `Interrupted` of k8s.io/apimachinery/pkg/util/wait. `cause` replaces Go's `Unwrap`.
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
  try {
    while (typeof link === "object" && link !== null && !seen.has(link)) {
      const { name, cause } = link as Partial<Error>;
      if (isTimeoutError(link) || isExhaustedError(link) || NAMES.has(name)) return true;
      seen.add(link);
      link = cause;
    }
  } catch {
    // A getter or a proxy threw: there is no name to read.
  }
  return false;
}

/** Names of the platform's interruptions. Their codes differ between implementations. */
const NAMES: ReadonlySet<unknown> = new Set(["AbortError", "TimeoutError"]);
