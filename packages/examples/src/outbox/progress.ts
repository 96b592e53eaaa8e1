import type { Observation } from "./observe.ts";
import type { LedgerCounts } from "./receiver/ledger.ts";
import type { Member } from "./worker-pool.ts";

/** The state of a run. */
export interface Progress extends Observation {
  readonly state: "running" | "settled" | "stopping";
  /** The error of the last look at the tables; undefined if there was none. */
  readonly trouble: string | undefined;
  /** Since it began, in milliseconds. */
  readonly elapsed: number;
  /** The number of orders to place. */
  readonly messages: number;
  /** Orders that no worker has said to be placed. */
  readonly open: number;
  /** Orders that a worker has said to be rolled back. */
  readonly takenBack: number;
  readonly received: LedgerCounts;
  readonly workers: readonly Member[];
  readonly killed: number;
  /** Attempts of killed workers whose outcome is not known. */
  readonly expired: number;
}
