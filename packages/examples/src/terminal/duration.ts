const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;

/**
 * Parses a duration in the notation of Kubernetes: "500ms", "2s", "1m30s", "1.5h".
 *
 * @returns milliseconds; undefined if the text is not a duration
 */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART))
    total += Number(amount) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
  return total;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** Formats a duration in milliseconds for people: "7ms", "2.04s", "4m10s", "2h05m". */
export function formatDuration(duration: number): string {
  if (duration < 999.5) return `${Math.round(duration)}ms`;
  if (duration < 9_995) return `${Number((duration / 1_000).toFixed(2))}s`;
  const seconds = Math.round(duration / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${two(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
}

/** Formats milliseconds as a time stamp: "00:03.214", and "26:00:03.214" after an hour. */
export function formatElapsed(elapsed: number): string {
  const whole = Math.floor(elapsed);
  const seconds = Math.floor(whole / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const rest = `${two(minutes % 60)}:${two(seconds % 60)}.${String(whole % 1_000).padStart(3, "0")}`;
  return hours > 0 ? `${two(hours)}:${rest}` : rest;
}
