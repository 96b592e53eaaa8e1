import type { Message } from "../message/message.ts";
import { storedPayloadOf, withPayload } from "../message/stored-payload.ts";
import type { Claim } from "../store/claim.ts";

/** A message with its claim. */
export interface Entry {
  /** Its place in the order of saving. */
  readonly sequence: number;
  message: Message;
  claim: { readonly relay: string; readonly until: number } | undefined;
  /** The number of its claims so far. */
  claims: number;
}

/** A copy: a change of the caller's object must not change the stored one, nor the reverse. */
export function copy(message: Message): Message {
  const json = storedPayloadOf(message) ?? JSON.stringify(message.payload);
  return withPayload({ ...message, headers: { ...message.headers } }, json);
}

export function isWaiting({ message, claim }: Entry): boolean {
  return claim === undefined && message.dueAt !== undefined;
}

export function dueTimeOf({ message }: Entry): number {
  return message.dueAt ?? Number.POSITIVE_INFINITY;
}

export function bySequence(a: Entry, b: Entry): number {
  return a.sequence - b.sequence;
}

/** The order of entries that are due. */
export function byRank(a: Entry, b: Entry): number {
  return a.message.priority - b.message.priority || dueTimeOf(a) - dueTimeOf(b);
}

export function claimOf({ message, claim, claims }: Entry): Claim | undefined {
  return claim === undefined ? undefined : { message: copy(message), ...claim, number: claims };
}
