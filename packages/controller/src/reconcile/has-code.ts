/** Whether a value is an error with this code. One that cannot be read has none. */
export function hasCode(value: unknown, code: string): boolean {
  try {
    return value instanceof Error && (value as { readonly code?: unknown }).code === code;
  } catch {
    return false;
  }
}
