import type { Ledger } from "./ledger.ts";

/** The other side: what messages go to. */
export interface Inbox extends AsyncDisposable {
  /** Where senders find it. */
  readonly url: string;
  readonly ledger: Ledger;
  /** Whether everything that was sent to it has been handled. */
  isIdle(): Promise<boolean>;
}
