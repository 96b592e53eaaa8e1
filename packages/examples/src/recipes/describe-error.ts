/** An error with its cause, in one line: "TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:80". */
export function describeError(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error ? `${error}: ${cause.message}` : `${error}`;
}
