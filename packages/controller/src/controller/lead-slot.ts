import { aborted, type Clock, onAbort } from "@holdfast/clock";
import { endsWithin } from "@holdfast/wait/limit";
import type { SlotLeadership } from "../key-shards.ts";
import type { Terms } from "./terms.ts";
import type { Workers } from "./workers.ts";

/** What {@link leadSlot} needs of the controller. */
export interface SlotWork {
  readonly terms: Terms;
  readonly workers: Pick<Workers<never>, "abortUnder" | "finished">;
  /** Has the keys of the slot added. */
  readonly addKeys: () => void;
  readonly clock: Clock;
  /** Maximum time to finish its keys in flight when it is given up, in milliseconds. */
  readonly grace: number;
}

/** Works on the keys of a slot until its term ends, then finishes those in flight. */
export async function leadSlot(
  term: SlotLeadership,
  { terms, workers, addKeys, clock, grace }: SlotWork,
): Promise<void> {
  const { signal, lost } = term;
  if (signal.aborted) return;
  const holding = terms.hold(term);
  const subscription = onAbort(lost, (reason) => workers.abortUnder(term, reason));
  addKeys();
  await aborted(signal);
  const limits = { clock, signal: undefined, label: "grace" };
  await endsWithin((expired) => workers.finished(term, expired), grace, limits);
  workers.abortUnder(term, signal.reason);
  await workers.finished(term);
  subscription[Symbol.dispose]();
  holding[Symbol.dispose]();
}
