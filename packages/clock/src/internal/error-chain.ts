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
