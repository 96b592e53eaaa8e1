import type { Message } from "../message/message.ts";

/** The right to make the next attempt of a message, for a while. */
export interface Claim {
  readonly message: Message;
  /** Who has it. */
  readonly worker: string;
  /** Counts the claims of the message: who has an older one may no longer write. */
  readonly number: number;
  /** When it ends unless the attempt has ended before: milliseconds since the epoch. */
  readonly until: number;
}

/** A row that is no message: somebody else wrote it, or changed it. */
export interface BrokenMessage {
  readonly id: string;
  /** What is wrong with it. It is dead now, and this is its last error. */
  readonly problem: string;
}

/** What was found: claims, and rows that are none. */
export interface Claimed {
  readonly claims: readonly Claim[];
  readonly broken: readonly BrokenMessage[];
}
