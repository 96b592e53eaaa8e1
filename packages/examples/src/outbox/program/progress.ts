import type { Observation } from "./observe.ts";
import type { LedgerCounts } from "./receiver/ledger.ts";

/** How a run is getting on. */
export interface Progress extends Observation {
  /** Since it began, in milliseconds. */
  readonly elapsed: number;
  /** How many orders there are to be. */
  readonly messages: number;
  /** Orders that are not known to be placed. */
  readonly open: number;
  /** Orders that a worker has said to be rolled back. */
  readonly takenBack: number;
  readonly received: LedgerCounts;
  /** Names of the workers that are at work. */
  readonly workers: readonly string[];
  readonly killed: number;
  /** Attempts of killed workers that were counted as failed. */
  readonly orphans: number;
}
