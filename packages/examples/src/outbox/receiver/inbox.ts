import type { Ledger } from "./ledger.ts";

/** The other side: the receiver of the messages. */
export interface Inbox extends AsyncDisposable {
  /** The word for it on the page. */
  readonly name: "receiver" | "broker";
  /** The URL for senders. */
  readonly url: string;
  readonly ledger: Ledger;
  /** Whether everything that was sent to it has been handled. */
  isIdle(): Promise<boolean>;
  /** Ends its faults: from now on it handles each message at once. */
  repair(): void;
}
