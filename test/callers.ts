/** Rejects with the error of `call`, which two named functions of a user await. */
async function calledByUser(call: () => PromiseLike<unknown>): Promise<unknown> {
  async function innerUser(): Promise<unknown> {
    return await call();
  }
  async function outerUser(): Promise<unknown> {
    return await innerUser();
  }
  return await outerUser();
}

/** The error of `call`, and which of the two functions its stack shows with V8's ten frames. */
export async function callersOf(
  call: () => PromiseLike<unknown>,
): Promise<{ readonly error: unknown; readonly callers: readonly string[] }> {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 10;
  try {
    await calledByUser(call);
  } catch (error) {
    const { stack = "" } = error as Error;
    return { error, callers: ["innerUser", "outerUser"].filter((name) => stack.includes(name)) };
  } finally {
    Error.stackTraceLimit = limit;
  }
  throw new Error("the call did not reject");
}

/** Both functions of {@link callersOf}. */
export const BOTH: readonly string[] = ["innerUser", "outerUser"];
