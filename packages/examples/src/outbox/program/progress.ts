import type { MessageStatus } from "../message/message-status.ts";
import type { LedgerCounts } from "./receiver/ledger.ts";

/** How a run is getting on. */
export interface Progress {
  /** Since it began, in milliseconds. */
  readonly elapsed: number;
  /** Orders that are not known to be placed. */
  readonly open: number;
  readonly statuses: Readonly<Record<MessageStatus, number>>;
  readonly received: LedgerCounts;
  /** In how many milliseconds the next message is due; undefined if none is. */
  readonly nextAttempt: number | undefined;
  /** Who holds the lock of the compensation task; undefined if nobody does. */
  readonly holder: string | undefined;
  /** Names of the workers that are alive. */
  readonly workers: readonly string[];
  readonly killed: number;
  readonly orphans: number;
}
