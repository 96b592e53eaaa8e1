import type { AttemptBackoffOptions } from "@holdfast/wait/strategies";
import { type GoFloat, type GoInt, toMilliseconds } from "./nanoseconds.ts";
import { outOfRange } from "./rejections.ts";

/** A `Backoff` of jpillora as it is recorded. */
export interface GoAttempts {
  readonly min: GoInt;
  readonly max: GoInt;
  readonly factor: GoFloat;
  readonly jitter: boolean;
}

type Settings = Readonly<Record<"duration" | "factor" | "cap", number>>;

function settingsOf({ min, factor, max }: GoAttempts): Settings {
  return { duration: toMilliseconds(min), factor: Number(factor), cap: toMilliseconds(max) };
}

/** The options of a recorded Backoff that Holdfast rejects. */
export function rejectedOf(go: GoAttempts): Record<string, number> {
  return outOfRange(settingsOf(go));
}

/**
 * The options that mean what Go makes of a Backoff; undefined if nothing here means that.
 *
 * In Go a field that is 0 or below is absent, and has its default. A factor that is not a finite number
 * has no counterpart.
 */
export function optionsOf(go: GoAttempts): AttemptBackoffOptions | undefined {
  const { duration, factor, cap } = settingsOf(go);
  if (!Number.isFinite(factor)) return undefined;
  return {
    ...(duration > 0 ? { duration } : {}),
    ...(factor > 0 ? { factor } : {}),
    ...(cap > 0 ? { cap } : {}),
    spread: go.jitter,
  };
}

/**
 * Whether bounds that differ in Go are one number here, by rule `beyond-99-days`. There is nothing to
 * draw between them then, and the draws are not compared.
 */
export function isOneNumber({ min, max }: GoAttempts): boolean {
  return BigInt(min) < BigInt(max) && Number(min) === Number(max);
}
