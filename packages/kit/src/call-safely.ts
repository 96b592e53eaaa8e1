/** Whether a value is a promise or another thenable. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === "function";
}

/**
 * Calls code of the user whose failure must not change the outcome: a hook, a logger, metrics, telemetry. It is not
 * awaited; `onError` receives an error that it throws or rejects with.
 *
 * @param onError - must not throw. Without it the error is dropped: no channel is left to report it
 */
export function callSafely(
  work: () => unknown,
  onError: (error: unknown) => void = () => {},
): void {
  try {
    const result = work(); // an async function is a hook as well: its type allows any return value
    if (isThenable(result)) void Promise.resolve(result).catch(onError);
  } catch (error) {
    onError(error);
  }
}
