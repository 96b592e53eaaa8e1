/** Every world begins at this time of the fake clock. */
export const BEGIN: number = Date.UTC(2000, 0);

/** The begin of a world that shows what depends on the time. It has the same calendar: the Gregorian one repeats. */
export const OTHER_BEGIN: number = Date.UTC(2400, 0);

/** What a run dates is within a year of its begin. */
const YEAR = 366 * 86_400_000;
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** The state as JSON, with Maps and Sets. All times of the run are the same time: as text, Date, milliseconds or seconds. */
export function textOf(state: unknown): string {
  const plain = (_: string, part: unknown): unknown => (isTime(part) ? "<time>" : plainPart(part));
  return JSON.stringify(state, plain) ?? "undefined";
}

/** The state that a text of {@link textOf} has. */
export function parsed(text: string): unknown {
  return text === "undefined" ? undefined : JSON.parse(text);
}

/** A state as JSON has it. */
export function plainOf(state: unknown): unknown {
  return parsed(textOf(state));
}

function plainPart(part: unknown): unknown {
  if (part instanceof Map) return Object.fromEntries(part);
  if (part instanceof Set) return [...part];
  return typeof part === "bigint" ? `${part}n` : part;
}

function isTime(part: unknown): boolean {
  if (typeof part === "number") return isOfRun(part) || isOfRun(part * 1_000);
  return typeof part === "string" && DATE.test(part) && isOfRun(Date.parse(part));
}

function isOfRun(time: number): boolean {
  return [BEGIN, OTHER_BEGIN].some((begin) => time >= begin && time < begin + YEAR);
}

/** An argument or a result as a report shows it: values that JSON cannot have are no reason to fail. */
export function shownValue(value: unknown, length: number): string {
  if (value instanceof AbortSignal) return "signal";
  if (typeof value === "function") return "function";
  try {
    return (JSON.stringify(value, (_, part) => plainPart(part)) ?? "undefined").slice(0, length);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
