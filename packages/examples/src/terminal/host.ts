import type { Clock } from "@holdfast/clock";

/** What a run takes from its program. */
export interface Host {
  readonly clock: Clock;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}
