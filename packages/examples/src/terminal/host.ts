import type { Clock } from "@holdfast/clock";

/** The clock and the streams of a program. */
export interface Host {
  readonly clock: Clock;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}
