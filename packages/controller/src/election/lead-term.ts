import type { Clock } from "@holdfast/clock";
import { isStop, MAX_RETRY_AFTER, messageOf } from "@holdfast/kit";
import { Backoff, RetryAfterError, withTimeout } from "@holdfast/wait";
import { loop } from "@holdfast/wait/loop";
import type { Leadership } from "../leadership.ts";
import { RELEASE_TIMEOUT } from "../stop-budget.ts";
import type { ElectorHooks } from "./elector-hooks.ts";
import type { Lease } from "./lease.ts";
import type { Term } from "./term.ts";

/** What a term needs beside itself. Durations are in milliseconds. */
export interface TermContext {
  readonly lease: Lease;
  readonly lead: (leadership: Leadership) => unknown;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
  readonly clock: Clock;
  readonly hooks: TermHooks;
}

/** The hooks of an elector that a term calls. */
type TermHooks = Pick<
  ElectorHooks,
  "log" | "lockAnswered" | "lockFailed" | "failed" | "stopWithin"
>;

/** Runs the work of a term, and renews its lease until the work has settled or the lease is lost. */
export async function leadTerm(term: Term, context: TermContext): Promise<void> {
  const { hooks } = context;
  const { token } = term;
  hooks.log("info", "leadership acquired", { token });
  const work = workOf(term, context);
  await renew(term, context);
  if (term.lost.aborted)
    hooks.log("warn", `leadership lost: ${messageOf(term.lost.reason)}`, { token });
  await work;
}

/** Renews until the work has settled or the lease is lost, also while the work stops. */
async function renew(term: Term, context: TermContext): Promise<void> {
  const { lease, retryPeriod, clock, hooks } = context;
  let startedAt = 0;
  const attempt = async (): Promise<void> => {
    startedAt = clock.monotonic();
    if (!term.isHeld) return; // after a suspension
    const renewal = await lease.renew(term.token, term.renewing);
    hooks.lockAnswered();
    if (renewal === undefined) term.lose("replaced");
    else term.renew(renewal);
  };
  const signal = term.renewing;
  // Counted from the start: two slow writes, one after the other, have to fit into the renew deadline.
  const delay = (): number => Math.max(startedAt + retryPeriod - clock.monotonic(), 0);
  await loop({ run: attempt, signal, clock, ...askingLock(delay, hooks) });
}

/** The delays of a loop that asks a lock: the planned ones, or the longer ones that its errors name. */
export function askingLock(
  planned: () => number,
  hooks: Pick<ElectorHooks, "lockFailed">,
): { readonly delay: () => number; readonly onError: (error: unknown) => void } {
  let named = 0;
  return {
    delay: () => {
      const delay = Math.max(planned(), named);
      named = 0;
      return delay;
    },
    onError: (error) => {
      named = Math.min(RetryAfterError.delayOf(error) ?? 0, MAX_RETRY_AFTER);
      hooks.lockFailed(error);
    },
  };
}

/** A copy by `{ ...leadership }` would keep the first `isHeld`: it has none, and `run` refuses it. */
export function leadershipOf(term: Leadership): Leadership {
  const { token, signal, lost } = term;
  const leadership = { token, signal, lost };
  return Object.defineProperty(leadership, "isHeld", { get: () => term.isHeld }) as Leadership;
}

async function workOf(term: Term, { lead, hooks }: TermContext): Promise<void> {
  const { signal, lost } = term;
  try {
    await lead(leadershipOf(term));
  } catch (error) {
    if (!isStop(error, signal) && !isStop(error, lost)) void hooks.failed(error);
  }
  term.finish();
}

/** Releases a lease. It may take half of the time that a stop has left, and each attempt half of that. */
export async function releaseLease(context: Omit<TermContext, "lead">): Promise<void> {
  const { lease, renewDeadline, retryPeriod, clock, hooks } = context;
  const within = Math.max(hooks.stopWithin() / 2, 1);
  const timeout = Math.min(renewDeadline, RELEASE_TIMEOUT, within);
  const ended = new AbortController();
  const { signal } = ended;
  const timer = clock.afterFunc(timeout, () => ended.abort(), { label: "release" });
  const release = async (): Promise<void> => {
    const attempt = (limited: AbortSignal): Promise<void> => lease.release(limited);
    await withTimeout(attempt, timeout / 2, { signal, clock, label: "attempt to release" });
    hooks.lockAnswered();
    hooks.log("info", "lease released");
    ended.abort();
  };
  const cap = Math.min(retryPeriod, timeout);
  const delay = new Backoff({ duration: cap / 8, factor: 2, cap, steps: 8 }).delayFunc();
  try {
    await loop({ run: release, signal, clock, ...askingLock(delay, hooks) });
  } finally {
    timer.stop();
  }
}
