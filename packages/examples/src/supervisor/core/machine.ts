import type { Clock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import type { ProcessTable } from "./process-table.ts";

/** Answers whether a GET of `url` succeeds; gives up when `signal` aborts. Never rejects. */
type Probe = (url: string, signal: AbortSignal) => Promise<boolean>;

/** Everything outside a supervisor that it acts on: time, chance, processes, the network. */
export interface Machine {
  readonly clock: Clock;
  readonly table: ProcessTable;
  readonly probe: Probe;
  /** A TCP port without a listener. */
  readonly freePort: () => Promise<number>;
  /** Draws the jitter; `Math.random` if undefined. */
  readonly random?: Random | undefined;
}
