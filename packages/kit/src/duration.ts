const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;

/**
 * Parses a duration as Kubernetes writes it: `500ms`, `2s`, `1m30s`, `1.5h`.
 *
 * @returns milliseconds; undefined if the text is no duration with units
 */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART))
    total += Number(amount) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
  return total;
}

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, "0");
}

/** Formats milliseconds for people: `7ms`, `2.04s`, `4m10s`, `2h05m`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)}ms`;
  if (milliseconds < 9_995) return `${Number((milliseconds / 1_000).toFixed(2))}s`;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3_600)}h${two((seconds % 3_600) / 60)}m`;
}

/** Formats milliseconds as a time stamp: `00:03.214`, and `26:00:03.214` after an hour. */
export function formatElapsed(elapsed: number): string {
  const [seconds, rest] = [elapsed / 1_000, String(Math.floor(elapsed) % 1_000).padStart(3, "0")];
  const time = `${two((seconds / 60) % 60)}:${two(seconds % 60)}.${rest}`;
  return seconds < 3_600 ? time : `${two(seconds / 3_600)}:${time}`;
}
