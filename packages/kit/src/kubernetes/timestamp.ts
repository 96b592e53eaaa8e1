/** An instant in milliseconds since the epoch as `Time` of Kubernetes: whole seconds, RFC 3339. */
export function formatSeconds(instant: number): string {
  return new Date(instant).toISOString().replace(/\.\d+Z$/, "Z");
}

/**
 * An instant in milliseconds since the epoch as `MicroTime` of Kubernetes. Go parses exactly six digits: a
 * Lease with three is refused.
 */
export function formatMicroseconds(instant: number): string {
  return new Date(instant).toISOString().replace(/Z$/, "000Z");
}

/** Reads a `Time` or a `MicroTime`, as milliseconds since the epoch. 0 for anything else. */
export function parseTimestamp(value: unknown): number {
  const instant = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(instant) ? 0 : instant;
}
