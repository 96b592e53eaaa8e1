/** The message of an error, for any thrown value. Never throws. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "an error without a readable message";
  }
}
