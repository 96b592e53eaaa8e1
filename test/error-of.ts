/** The error that a promise rejects with, or undefined if it resolves. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
