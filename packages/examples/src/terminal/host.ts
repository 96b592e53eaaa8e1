import type { Clock } from "@holdfast/clock";

/** The clock and the output of a program. */
export interface Host {
  readonly clock: Clock;
  readonly stdout: NodeJS.WritableStream & { readonly columns?: number };
}
