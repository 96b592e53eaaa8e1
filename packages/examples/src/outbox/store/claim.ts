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
