import type { Message } from "../message/message.ts";

/** The exclusive right to make the next attempt of a message, until it expires. */
export interface Claim {
  /** The message at the instant of the claim. */
  readonly message: Message;

  /** The name of the relay that holds it. */
  readonly relay: string;

  /** Counts the claims of the message. Only the holder of the newest can write an outcome. */
  readonly number: number;

  /** The instant it expires if no outcome is written: milliseconds since the epoch. */
  readonly until: number;
}

/** A row that is not a message: another program wrote it, or changed it. */
export interface InvalidRow {
  /** Its id. */
  readonly id: string;

  /** The reason. The row is a dead letter now, with this as its last error. */
  readonly problem: string;
}

/** The response to a claim request: claims, and rows that are not messages. */
export interface Claimed {
  /** The messages. */
  readonly claims: readonly Claim[];

  /** The rows that are not messages. */
  readonly invalid: readonly InvalidRow[];
}
