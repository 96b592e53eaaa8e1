/** An int64 as it is recorded: a number, or a decimal string where a number would be inexact. */
export type GoInt = number | string;

/** A float64 as it is recorded: a number, or NaN, Infinity or -Infinity as a string. */
export type GoFloat = number | string;

const PER_MILLISECOND = 1e6;

/** A recorded duration as Holdfast takes it. */
export function toMilliseconds(nanoseconds: GoInt): number {
  return Number(nanoseconds) / PER_MILLISECOND;
}

/** A duration of Holdfast as Go counts it. */
export function toNanoseconds(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds * PER_MILLISECOND));
}
