import type { Clock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import type { ProbeTarget } from "../manifest/manifest.ts";
import type { ProcessTable } from "./process-table.ts";

/** A probe of one life of a process: `auto` has become a port. */
export interface BoundProbe {
  readonly target: ProbeTarget & { readonly port?: number };
  /** For a command. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Returns a check: it resolves if the answer is good, and rejects with the reason if not. */
export type Probe = (probe: BoundProbe) => (signal: AbortSignal) => Promise<void>;

/** Everything outside a supervisor that it acts on: time, chance, processes, the network. */
export interface Machine {
  readonly clock: Clock;
  readonly table: ProcessTable;
  readonly probe: Probe;
  /** A TCP port without a listener. */
  readonly freePort: () => Promise<number>;
  /** Whether something listens on a port of this machine. */
  readonly isTaken: (port: number) => Promise<boolean>;
  /** Whether the file system of a path does not answer. Rejects with the reason of the signal. */
  readonly isSilent: (path: string, signal: AbortSignal) => Promise<boolean>;
  /** Draws the jitter; `Math.random` if undefined. */
  readonly random?: Random | undefined;
}
