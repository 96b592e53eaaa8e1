import { type PassiveClock, realClock } from "@holdfast/clock";
import { requireMethods } from "@holdfast/clock/internal";

const SECONDS = /^\d+$/;
/** The three forms of a date in RFC 9110, of which two are obsolete and must be understood. */
const DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * How long a `Retry-After` header asks to wait.
 *
 * @param value - the header: a number of seconds, or a date. null or undefined if there is none
 * @param clock - tells the time that a date is compared with; by default `realClock`
 * @returns milliseconds, at least 0; undefined if there is no header, or it says neither. A date
 * that is past is 0
 * @throws TypeError if `clock` is none
 *
 * Source: RFC 9110, section 10.2.3.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { retry, parseRetryAfter } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const busy = new Response(null, { status: 429, headers: { "Retry-After": "120" } });
 * const answers = [busy, new Response("hello")];
 * async function get() {
 *   const answer = answers.shift() as Response;
 *   if (!answer.ok) throw new Error(answer.statusText, { cause: answer });
 *   return answer.text();
 * }
 *
 * const text = await clock.run(() =>
 *   retry(get, {
 *     delay: ({ error }, next) => {
 *       const { headers } = (error as Error).cause as Response;
 *       return parseRetryAfter(headers.get("Retry-After"), clock) ?? next;
 *     },
 *     onRetry: ({ delay }) => console.log("again in", delay),
 *     clock,
 *   }),
 * );
 * console.log(text);
 * // => again in 120000
 * // => hello
 * ```
 */
export function parseRetryAfter(
  value: string | null | undefined,
  clock: PassiveClock = realClock,
): number | undefined {
  requireMethods("clock", clock, ["now"]);
  const text = value?.trim() ?? "";
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!DATES.some((date) => date.test(text))) return undefined;
  const instant = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(instant) ? undefined : Math.max(instant - clock.now(), 0);
}
