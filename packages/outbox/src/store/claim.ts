import type { Message } from "../message/message.ts";

/** The right to make the next attempt of a message, for a while. */
export interface Claim {
  /** The message, as it was when it was claimed. */
  readonly message: Message;

  /** The name of the relay that holds it. */
  readonly worker: string;

  /** Counts the claims of the message. The holder of an older one can no longer write. */
  readonly number: number;

  /** When it ends if no outcome was written: milliseconds since the epoch. */
  readonly until: number;
}

/** A row that is not a message: another program wrote it, or changed it. */
export interface BrokenMessage {
  /** Its id. */
  readonly id: string;

  /** The reason. The message is dead now, with this as its last error. */
  readonly problem: string;
}

/** The response to a claim request: claims, and rows that are not messages. */
export interface Claimed {
  /** The messages. */
  readonly claims: readonly Claim[];

  /** The rows that are not messages. */
  readonly broken: readonly BrokenMessage[];
}
