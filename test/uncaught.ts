/** Collects what would have ended the process, in place of the test runner, until disposed. */
export function collectUncaught(
  event: "uncaughtException" | "unhandledRejection" = "uncaughtException",
): { readonly errors: unknown[] } & Disposable {
  const errors: unknown[] = [];
  const collect = (error: unknown): void => {
    errors.push(error);
  };
  const others = process.rawListeners(event) as ((error: unknown) => void)[];
  process.removeAllListeners(event);
  process.on(event, collect);
  return {
    errors,
    [Symbol.dispose]: () => {
      process.off(event, collect);
      for (const other of others) process.on(event, other);
    },
  };
}
