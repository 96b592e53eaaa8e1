import { findByCode } from "@holdfast/kit";
import type { PendingTimer } from "./test-clock.ts";

const CODE = "ERR_CLOCK_DEADLOCK";

/** The facts that a {@link DeadlockError} reports. */
export interface DeadlockFacts {
  /** The method that is stuck: `"run"` or `"step"`. */
  readonly verb: string;
  /** Fake time that had passed, in milliseconds. */
  readonly elapsed: number;
  /** The number of timers that had fired. */
  readonly fired: number;
  /** Real time in which nothing had happened, in milliseconds. */
  readonly stalled: number;
  /** The option that sets this time. */
  readonly limit: "stallMs" | "externalMs";
  /** The labels of the holds that kept time from moving. */
  readonly holds: readonly string[];
  /** The timers that are armed, in firing order. */
  readonly pending: readonly PendingTimer[];
  /** The resources that keep the process alive, as the platform names them: an incomplete hint. */
  readonly resources: readonly string[];
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(", ");
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

function advice({ holds, pending, stalled, limit }: DeadlockFacts): string {
  const remedy = `if the work is only slow, raise ${limit} above ${stalled}`;
  if (holds.length === 0)
    return `pass this clock to all code that waits; replace global timers and AbortSignal.timeout by this clock; wrap real I/O in clock.external(); settle every promise; ${remedy}`;
  return pending.length === 0
    ? `release the hold, or let the work inside clock.external() settle; ${remedy}`
    : `release the hold; work inside clock.external() must not wait for this clock; ${remedy}`;
}

function describe(facts: DeadlockFacts): string {
  const held = facts.holds.length > 0;
  const timers = facts.pending.map(
    ({ label, deadline }) => `${label ?? "(no label)"} @${Number.isNaN(deadline) ? "?" : deadline}`,
  );
  return [
    `${facts.verb}() is stuck: ${held ? `time is held by ${list(facts.holds)}` : "no timer can fire"} and nothing happened for ${facts.stalled} ms of real time`,
    `fake time passed: ${facts.elapsed} ms, timers fired: ${facts.fired}`,
    `timers armed: ${timers.length > 0 ? list(timers) : "none"}`,
    `the process waits for: ${facts.resources.length > 0 ? list(facts.resources) : "nothing known"}`,
    advice(facts),
  ].join("\n  ");
}

/**
 * A `run` or `step` is stuck: the function is pending, no timer can fire, and nothing happened for
 * `stallMs` of real time.
 *
 * The message lists the pending timers, holds and resources; {@link DeadlockError.facts} has the same.
 *
 * @example
 * ```ts
 * import { DeadlockError, FakeClock } from "@holdfast/clock/testing";
 *
 * const clock = new FakeClock();
 * const stuck = clock.run(() => new Promise(() => {}), { stallMs: 10 });
 * const error = await stuck.catch((reason: unknown) => reason);
 * console.log(error instanceof DeadlockError, (error as DeadlockError).code);
 * // => true ERR_CLOCK_DEADLOCK
 * ```
 */
export class DeadlockError extends Error {
  override readonly name = "DeadlockError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_CLOCK_DEADLOCK" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_CLOCK_DEADLOCK" = CODE;
  /** The state of the clock and of the process. */
  readonly facts: DeadlockFacts;

  /** @param facts - the state of the clock and of the process */
  constructor(facts: DeadlockFacts) {
    super(describe(facts));
    this.facts = facts;
  }
}

/**
 * Whether an error is a {@link DeadlockError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if a `run` or `step` of a fake clock is stuck
 *
 * @example
 * ```ts
 * import { findError } from "@holdfast/clock";
 * import { DeadlockError, FakeClock, isDeadlockError } from "@holdfast/clock/testing";
 *
 * const clock = new FakeClock();
 * const stuck = clock.run(() => new Promise(() => {}), { stallMs: 10 });
 * const error = await stuck.catch((reason: unknown) => reason);
 * console.log(isDeadlockError(error), findError(error, DeadlockError)?.facts.verb); // => true run
 * ```
 */
export function isDeadlockError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
