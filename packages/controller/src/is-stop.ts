/**
 * Whether an error only propagates the abort of `signal`: it is the reason, or the `AbortError` in
 * which Node wraps it.
 */
export function isStop(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return Object.is(error, signal.reason) || (error instanceof Error && error.name === "AbortError");
}
