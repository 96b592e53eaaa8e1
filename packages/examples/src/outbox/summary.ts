import type { createColors } from "picocolors";
import { formatDuration } from "../terminal/duration.ts";
import { type Audit, faultsOf } from "./audit.ts";
import type { Outcome } from "./delivery.ts";
import { describeOverlap, type Overlap } from "./receiver/overlap.ts";

type Colours = ReturnType<typeof createColors>;

/** The figures of a run, as plain data. */
export interface Summary extends Audit {
  readonly seed: number;
  /** How long it took, in milliseconds. */
  readonly elapsed: number;
  /** Orders that were rolled back, after their message was saved. */
  readonly takenBack: number;
  readonly attempts: number;
  /** Attempts that the receiver knew by their key, and did nothing for. */
  readonly duplicates: number;
  /** Must be 0: messages that were in the hands of two at once. */
  readonly overlaps: number;
  /** Each of them: which attempts, and whose. */
  readonly overlapping: readonly Overlap[];
  readonly killed: number;
  /** Attempts of killed workers that were counted as failed. */
  readonly expired: number;
  /** Failed checks; empty after a correct run. */
  readonly faults: readonly string[];
}

/** No more overlaps are told of than that; they are all in the plain data. */
const MOST_TOLD = 10;

export function summaryOf(outcome: Outcome, seed: number): Summary {
  const { progress, audit, overlapping, isSettled, isIdle, failed } = outcome;
  const { elapsed, killed, expired, received, takenBack } = progress;
  const { attempts, duplicates, overlaps } = received;
  const faults = [...faultsOf(audit, isSettled)];
  if (failed > 0) faults.push(`workers that exited unexpectedly: ${failed}, must be 0`);
  if (!isSettled) faults.push("stopped before every message was settled");
  if (!isIdle)
    faults.push("the receiver was still busy: messages it had not handled count as lost");
  // The last, because each of them is told below.
  if (overlaps > 0) faults.push(`overlaps: ${overlaps}, must be 0`);
  return {
    seed,
    elapsed: Math.round(elapsed),
    ...audit,
    takenBack,
    attempts,
    duplicates,
    overlaps,
    overlapping,
    killed,
    expired,
    faults,
  };
}

type Row = readonly [name: string, count: number, meaning: string];

/** The work left by a run that was stopped. */
function leftOver({ waiting, unplaced }: Summary): readonly Row[] {
  if (waiting + unplaced === 0) return [];
  return [
    ["waiting", waiting, "messages in the outbox: a relay would send them next"],
    ["not placed", unplaced, "orders that the run did not reach"],
  ];
}

function discarded({ discarded }: Summary): readonly Row[] {
  return discarded === 0 ? [] : [["discarded", discarded, "dead messages that you have removed"]];
}

/** The figures with their meaning, and the verdict. */
export function summaryLines(summary: Summary, { bold, dim, green, red }: Colours): string[] {
  const rows: readonly Row[] = [
    ["sent", summary.sent, "committed orders, each with its message"],
    ["delivered", summary.delivered, "messages with an effect at the receiver"],
    ["retried", summary.retried, "messages that took more than one attempt"],
    ["dead", summary.dead, "messages that were rejected, or ran out of attempts"],
    ...discarded(summary),
    ["rolled back", summary.takenBack, `orders; the receiver saw ${summary.phantoms} of them`],
    ["duplicates", summary.duplicates, "attempts that the receiver recognized by their key"],
    ["killed", summary.killed, `workers; ${summary.expired} of their messages taken over`],
    ["overlaps", summary.overlaps, "messages with two attempts at once"],
    ...leftOver(summary),
    ["lost", summary.lost + summary.missing, "committed messages that are gone"],
  ];
  const table = rows.map(
    ([name, count, meaning]) => `${name.padEnd(11)}  ${`${count}`.padStart(7)}  ${dim(meaning)}`,
  );
  const { faults, overlapping, elapsed, seed } = summary;
  const told = overlapping.slice(0, MOST_TOLD).map((each) => dim(`  ${describeOverlap(each)}`));
  const verdict = faults.length === 0 ? [green("All checks passed.")] : faults.map(red);
  const title = bold(`After ${formatDuration(elapsed)}, seed ${seed}`);
  return [title, "", ...table, "", ...verdict, ...told];
}
