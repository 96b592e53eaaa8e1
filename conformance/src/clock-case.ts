import type { GoInt } from "./nanoseconds.ts";

/** One operation on a clock: its name, then ids of objects and nanoseconds. */
export type ClockOp = readonly [name: string, ...args: GoInt[]];

/** A trace on one of Go's clocks: `res[i]` is what `ops[i]` did. */
export interface ClockCase {
  readonly id: number;
  readonly profile: string;
  /** Whether every channel is read after every operation; otherwise only `recv` reads. */
  readonly autoDrain: boolean;
  readonly ops: readonly ClockOp[];
  readonly res: readonly object[];
}
