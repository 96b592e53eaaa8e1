/** The code of `TimeoutError` of `@holdfast/wait`. */
export const TIMEOUT_CODE = "ERR_WAIT_TIMEOUT";

/** More causes than any program nests. The bound also ends chains that lead back to themselves. */
const MAX_CAUSES = 100;

/**
 * The first error with this code among a value and its causes, as Go's `errors.As` searches.
 *
 * The cause of a timeout is not searched: it belongs to an earlier attempt, and says nothing about
 * the one that timed out. An error that throws when read has no code.
 */
export function findByCode<Found extends object>(value: unknown, code: string): Found | undefined {
  try {
    let link = value;
    for (let depth = 0; depth <= MAX_CAUSES; depth++) {
      if (typeof link !== "object" || link === null) return undefined;
      const { code: found, cause } = link as { readonly code?: unknown; readonly cause?: unknown };
      if (found === code) return link as Found;
      if (found === TIMEOUT_CODE) return undefined;
      link = cause;
    }
  } catch {
    // A getter or a proxy threw: there is no code to read.
  }
  return undefined;
}

/**
 * Whether an error only passes on the abort of `signal`: it is the reason, or an `AbortError` caused by it, as those of
 * `node:timers/promises`, `events.once`, `fs` and child processes are. An `AbortError` without a cause counts too: some
 * libraries leave it out. One with another cause belongs to another signal, and is a failure. Without a signal, nothing is
 * stopped.
 */
export function isStop(error: unknown, signal: AbortSignal | undefined): boolean {
  if (!signal?.aborted) return false;
  try {
    let link = error;
    for (let depth = 0; depth <= MAX_CAUSES; depth++) {
      if (Object.is(link, signal.reason)) return true;
      if (typeof link !== "object" || link === null) return false;
      const { name, cause } = link as { readonly name?: unknown; readonly cause?: unknown };
      if (name !== "AbortError") return false;
      if (cause === undefined) return true;
      link = cause;
    }
  } catch {
    // A getter or a proxy threw: it is no abort that is known.
  }
  return false;
}
