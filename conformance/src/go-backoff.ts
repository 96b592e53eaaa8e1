import type { BackoffOptions } from "@holdfast/wait";
import { type GoFloat, type GoInt, toMilliseconds } from "./nanoseconds.ts";
import { outOfRange } from "./rejections.ts";

/** A `wait.Backoff` of Go as it is recorded. */
export interface GoBackoff {
  readonly duration: GoInt;
  readonly factor?: GoFloat;
  readonly jitter: GoFloat;
  readonly steps?: number;
  readonly cap?: GoInt;
}

/** The same numbers under the names and in the units of Holdfast, in range or not. */
type Settings = Readonly<Record<keyof GoBackoff, number>>;

function settingsOf({ duration, factor = 0, jitter, steps = 0, cap = 0 }: GoBackoff): Settings {
  return {
    duration: toMilliseconds(duration),
    factor: Number(factor),
    jitter: Number(jitter),
    steps,
    cap: toMilliseconds(cap),
  };
}

/** The options of a recorded Backoff that Holdfast rejects. */
export function rejectedOf(go: GoBackoff): Record<string, number> {
  return outOfRange(settingsOf(go));
}

/**
 * The options that mean what Go makes of a Backoff; undefined if nothing here means that.
 *
 * In Go a field that is 0 is absent: no factor, no jitter, no cap. `Steps` counts as it is. Below 0,
 * jitter, cap and steps are what they are at 0; a duration or a factor below 0 has no counterpart.
 */
export function optionsOf(go: GoBackoff): BackoffOptions | undefined {
  const { duration, factor, jitter, steps, cap } = settingsOf(go);
  if (Object.keys(outOfRange({ duration, factor })).length > 0) return undefined;
  if (jitter === Number.POSITIVE_INFINITY) return undefined;
  return {
    duration,
    ...(factor === 0 ? {} : { factor }),
    ...(jitter > 0 ? { jitter } : {}),
    ...(cap > 0 ? { cap } : {}),
    ...(go.steps === undefined ? {} : { steps: Math.max(steps, 0) }),
  };
}
