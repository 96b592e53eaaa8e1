// Times and durations of CEL, with the results of Go.
import { FORMATS } from "../validation/formats.ts";

// biome-ignore lint/suspicious/noExplicitAny: the library hands over whatever the expression has
type Value = any;

/** A time as RFC 3339 has it. */
function timeOf(text: string): Date {
  const time = new Date(text);
  // Without zeros at the end of a fraction.
  timeTexts.set(time, text.replace(/(\.\d*?)0+(?=Z|[+-])/, "$1").replace(/\.(?=Z|[+-])/, ""));
  if (TIME.test(text) && FORMATS["date-time"]?.(text) && !Number.isNaN(time.getTime())) return time;
  throw new Error(`invalid timestamp ${JSON.stringify(text)}`);
}

/** Texts from which times were read: `string` writes their zone and all digits of their seconds. */
const timeTexts = new WeakMap<Date, string>();

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Nanoseconds in the units of Go. */
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const DURATION = /^[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;

/** Words for the units of a text in the format `duration`, which has more of them than Go. */
const WORDS: readonly (readonly [words: RegExp, nanos: bigint])[] = [
  [/^(ns|nano)/, 1n],
  [/^(us|µs|micro)/, 1_000n],
  [/^(ms|milli)/, 1_000_000n],
  [/^(s$|sec)/, 1_000_000_000n],
  [/^(m$|min)/, 60_000_000_000n],
  [/^(h$|hour|hr)/, 3_600_000_000_000n],
  [/^(d$|day)/, 86_400_000_000_000n],
  [/^(w$|week|wk)/, 604_800_000_000_000n],
];

/** A text in the format `duration`, such as `2 weeks`, in the form that Go reads. Such a text has no sign. */
export function goDuration(text: string): string {
  if (DURATION.test(text)) return text;
  const parts = [...text.toLowerCase().matchAll(/(\d*)(?:\.(\d*))?\s*([a-zµ]+)/g)];
  const nanos = parts.map(([, whole = "", fraction = "", unit = ""]) => {
    const size = WORDS.find(([words]) => words.test(unit))?.[1] ?? 0n;
    const digits = BigInt(`${whole || "0"}${fraction}`);
    return (digits * size) / 10n ** BigInt(fraction.length);
  });
  const sum = nanos.reduce((total, one) => total + one, 0n);
  return `${sum}ns`;
}

/** Nanoseconds of a duration, as Go reads it. */
function nanosOf(text: string): bigint {
  if (!DURATION.test(text)) throw new Error(`invalid duration ${JSON.stringify(text)}`);
  let sum = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(
    /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const size = UNITS[unit] as bigint;
    sum +=
      BigInt(whole || "0") * size +
      (BigInt(fraction || "0") * size) / 10n ** BigInt(fraction.length);
  }
  if (sum >= 2n ** 63n) throw new Error(`invalid duration ${JSON.stringify(text)}`);
  return text.startsWith("-") ? -sum : sum;
}

/** Text of a duration in seconds, as in `5400s` and `0.001s`. */
export function durationText(duration: Value): string {
  const nanos = BigInt(duration.seconds) * 1_000_000_000n + BigInt(duration.nanos);
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, "0")
    .replace(/0+$/, "");
  const whole = `${nanos < 0n ? "-" : ""}${size / 1_000_000_000n}`;
  return fraction === "" ? `${whole}s` : `${whole}.${fraction}s`;
}

export function timeText(time: Date): string {
  return (
    timeTexts.get(time) ??
    time
      .toISOString()
      .replace(/(\.\d*?)0+Z$/, "$1Z")
      .replace(".Z", "Z")
  );
}

/** A time that `getUTC…` reads as the clock of a zone shows it. */
function inZone(time: Date, zone: string): Date {
  const [, sign, hours, minutes] = /^([-+]?)(\d\d?):(\d\d)$/.exec(zone) ?? [];
  if (hours !== undefined) {
    const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return new Date(time.getTime() + (sign === "-" ? -offset : offset));
  }
  const { year, month, day, hour, minute, second } = Object.fromEntries(
    new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", ...ZONED })
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<string, number>;
  const parts = [year, (month ?? 1) - 1, day, hour, minute, second] as [
    number,
    number,
    ...number[],
  ];
  return new Date(Date.UTC(...parts) + time.getUTCMilliseconds());
}

const ZONED = {
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
} as const;

function dayOfYear(time: Date): number {
  return Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0)) / 86_400_000);
}

/** Parts of a time by the names of their functions. */
export const TIME_PARTS: Readonly<Record<string, (time: Date) => number>> = {
  getDate: (time) => time.getUTCDate(),
  getDayOfMonth: (time) => time.getUTCDate() - 1,
  getDayOfWeek: (time) => time.getUTCDay(),
  getDayOfYear: dayOfYear,
  getFullYear: (time) => time.getUTCFullYear(),
  getHours: (time) => time.getUTCHours(),
  getMilliseconds: (time) => time.getUTCMilliseconds(),
  getMinutes: (time) => time.getUTCMinutes(),
  getMonth: (time) => time.getUTCMonth(),
  getSeconds: (time) => time.getUTCSeconds(),
};

/** Nanoseconds in the parts of a duration, by the names of their functions. */
const DURATION_PARTS: Readonly<Record<string, bigint>> = {
  getHours: UNITS["h"] as bigint,
  getMinutes: UNITS["m"] as bigint,
  getSeconds: UNITS["s"] as bigint,
  getMilliseconds: UNITS["ms"] as bigint,
};

export const TIMESTAMP_TYPE = "google.protobuf.Timestamp";
export const DURATION_TYPE = "google.protobuf.Duration";

/**
 * The functions of times and durations.
 *
 * @param own - the name that a function has here, where the library has another of its name
 */
export function times(
  durationOf: (nanos: bigint) => Value,
  own: (name: string) => string,
): Readonly<Record<string, (...values: Value[]) => Value>> {
  const durationFrom = (text: string) => durationOf(nanosOf(text));
  const totalOf = (one: Value): bigint =>
    BigInt(one.seconds) * (UNITS["s"] as bigint) + BigInt(one.nanos);
  return {
    [`${own("timestamp")}(string): ${TIMESTAMP_TYPE}`]: timeOf,
    [`${own("timestamp")}(int): ${TIMESTAMP_TYPE}`]: (seconds) => new Date(Number(seconds) * 1_000),
    [`${own("timestamp")}(${TIMESTAMP_TYPE}): ${TIMESTAMP_TYPE}`]: (time) => time,
    [`${own("duration")}(string): ${DURATION_TYPE}`]: durationFrom,
    [`${own("duration")}(${DURATION_TYPE}): ${DURATION_TYPE}`]: (duration) => duration,
    [`string(${TIMESTAMP_TYPE}): string`]: timeText,
    [`string(${DURATION_TYPE}): string`]: durationText,
    [`int(${TIMESTAMP_TYPE}): int`]: (time) => BigInt(Math.floor(time.getTime() / 1_000)),
    [`int(${DURATION_TYPE}): int`]: totalOf,
    ...Object.fromEntries(
      Object.entries(TIME_PARTS).flatMap(([name, part]) => [
        [`${TIMESTAMP_TYPE}.${own(name)}(): int`, (time: Date) => BigInt(part(time))],
        [
          `${TIMESTAMP_TYPE}.${own(name)}(string): int`,
          (time: Date, zone: string) => BigInt(part(inZone(time, zone))),
        ],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(DURATION_PARTS).map(([name, size]) => [
        `${DURATION_TYPE}.${own(name)}(): int`,
        // Milliseconds are those of the last second, the others are totals.
        (one: Value) => totalOf(one) / size,
      ]),
    ),
  };
}
