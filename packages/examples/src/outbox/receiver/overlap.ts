import type { Fault } from "./fault.ts";
import type { Handling } from "./handling.ts";

/** One of two attempts that a receiver had at once. */
export interface Overlapping {
  /** Which one of the message it is, from 1. */
  readonly attempt: number;
  /** The sender that the request names. */
  readonly sender: string | undefined;
  /** Its fault; undefined if it had not been read. */
  readonly fault: Fault | undefined;
}

/** A message that came while it was being handled: two senders had it at once. */
export interface Overlap {
  readonly id: string;
  readonly earlier: Overlapping;
  readonly later: Overlapping;
  /** For how long the earlier one had been open when the later one came, in milliseconds. */
  readonly open: number;
  /** For how long the receiver's event loop stood still meanwhile, at most, in milliseconds. */
  readonly stood: number;
}

export function overlappingOf({ attempt, sender, fault }: Handling): Overlapping {
  return { attempt, sender, fault };
}

/** An overlap in words, one line. */
export function describeOverlap({ id, earlier, later, open, stood }: Overlap): string {
  return `${id}: ${wordsOf(later)} came ${open} ms after ${wordsOf(earlier)}; the receiver stood still for up to ${stood} ms`;
}

function wordsOf({ attempt, sender, fault }: Overlapping): string {
  return `attempt ${attempt} of ${sender ?? "an unknown sender"} (${fault ?? "unread"})`;
}
