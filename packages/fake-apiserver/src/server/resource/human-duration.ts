const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Up to which age two units are shown, how they are called and how long they are. The first row that fits counts. */
const FORMS: readonly (readonly [below: number, big: Unit, small?: Unit])[] = [
  [2 * MINUTE, ["s", SECOND]],
  [10 * MINUTE, ["m", MINUTE], ["s", SECOND]],
  [3 * HOUR, ["m", MINUTE]],
  [8 * HOUR, ["h", HOUR], ["m", MINUTE]],
  [2 * DAY, ["h", HOUR]],
  [8 * DAY, ["d", DAY], ["h", HOUR]],
  [2 * YEAR, ["d", DAY]],
  [8 * YEAR, ["y", YEAR], ["d", DAY]],
  [Number.POSITIVE_INFINITY, ["y", YEAR]],
];

type Unit = readonly [name: string, length: number];

/**
 * An age as kubectl shows it: `90s`, `5m30s`, `3h`, `2d4h`.
 *
 * @param age - milliseconds
 * @returns `0s` for up to 2 s in the future, `<invalid>` for more
 *
 * Source: `HumanDuration` of k8s.io/apimachinery/pkg/util/duration.
 */
export function humanDuration(age: number): string {
  if (age <= -2 * SECOND) return "<invalid>";
  const [, [name, length], small] = FORMS.find(([below]) => age < below) as (typeof FORMS)[0];
  const text = `${Math.max(Math.trunc(age / length), 0)}${name}`;
  if (small === undefined) return text;
  const rest = Math.trunc((age % length) / small[1]);
  return rest === 0 ? text : `${text}${rest}${small[0]}`;
}
