import { isTimeoutError } from "@holdfast/wait";

/** An error in a word or two: "ECONNREFUSED", "timed out". */
export function describeError(error: unknown): string {
  if (isTimeoutError(error)) return "timed out";
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
