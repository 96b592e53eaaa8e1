/**
 * Whether an error only says that the work was told to stop: it is the reason of the signal, or the
 * `AbortError` in which Node's own functions wrap the reason.
 */
export function isStop(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return Object.is(error, signal.reason) || (error instanceof Error && error.name === "AbortError");
}
