import type { Answer, ConditionInput, ConditionOutcome, StopName } from "./condition-case.ts";

/** How a poll waits. Numbers are nanoseconds. */
export interface PollModel {
  readonly interval: number;
  /** Whether delays end on the beat of a ticker; otherwise each counts from where it is armed. */
  readonly ticks: boolean;
  /** Undefined: none. */
  readonly timeout: number | undefined;
}

/** Why a poll ends, if it does. */
interface Verdict {
  readonly at: number;
  readonly err: ConditionOutcome["err"] | undefined;
}

interface Stop {
  readonly at: number;
  readonly name: StopName;
}

/**
 * A poll at a fixed interval, computed. Told to wait as Go does it gives what Go gives; told to wait
 * as a rule says it gives what should be here.
 */
export function modelOfPoll(input: ConditionInput, model: PollModel): ConditionOutcome {
  const { interval, ticks, timeout } = model;
  const { immediate, sliding } = input;
  const parent = earliest(stopsOf(input));
  const stop = earliest([parent, { at: timeout ?? Number.POSITIVE_INFINITY, name: "deadline" }]);
  const calls: number[] = [];
  let start: number | undefined;
  let due = 0;

  const arm = (now: number): void => {
    start ??= now;
    due = now + interval - (ticks && interval > 0 ? (now - start) % interval : 0);
  };
  const ask = (now: number): Verdict => {
    const { d, r } = input.cond[Math.min(calls.length, input.cond.length - 1)] as Answer;
    calls.push(now);
    const at = now + Number(d);
    if (r === "t") return { at, err: "nil" };
    if (r === "e" || r === "te") return { at, err: "condition" };
    return { at, err: r === "ctx" && stop.at <= at ? stop.name : undefined };
  };
  const wait = (now: number): Verdict => {
    const at = Math.max(now, due);
    return stop.at <= at ? { at: Math.max(now, stop.at), err: stop.name } : { at, err: undefined };
  };

  const rests = sliding && !ticks;
  if (!sliding || !immediate) arm(0);
  let verdict: Verdict = { at: 0, err: undefined };
  if (immediate) {
    verdict = ask(0);
    if (sliding) arm(verdict.at);
  }
  while (verdict.err === undefined) {
    verdict = wait(verdict.at);
    if (verdict.err !== undefined) break;
    if (!rests) arm(verdict.at);
    verdict = ask(verdict.at);
    if (rests) arm(verdict.at);
  }
  const { at: endedAt, err } = verdict;
  const interrupted = err === "canceled" || err === "deadline";
  const parentCtxErr = parent.at <= endedAt ? parent.name : "nil";
  return { calls, endedAt, err, interrupted, parentCtxErr };
}

/** What ends the parent context, and when. */
function stopsOf({ cancelAt, parentDeadline, alreadyCanceled = false }: ConditionInput): Stop[] {
  const never = Number.POSITIVE_INFINITY;
  return [
    { at: alreadyCanceled ? 0 : Number(cancelAt ?? never), name: "canceled" },
    { at: Number(parentDeadline ?? never), name: "deadline" },
  ];
}

/** Of two at the same instant, the one that stands first. */
function earliest(stops: readonly Stop[]): Stop {
  return stops.reduce((first, stop) => (stop.at < first.at ? stop : first));
}
