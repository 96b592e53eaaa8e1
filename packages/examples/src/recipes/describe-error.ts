/** An error, and what its cause adds, in one line: "TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:80". */
export function describeError(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  const isNew = cause instanceof Error && !`${error}`.endsWith(cause.message);
  return isNew ? `${error}: ${cause.message}` : `${error}`;
}
