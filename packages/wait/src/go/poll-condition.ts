import { type Clock, realClock } from "@holdfast/clock";
import {
  requireBoolean,
  requireClock,
  requireNotNegative,
  requireOptions,
} from "@holdfast/clock/internal";
import { Deadline } from "../limit/deadline.ts";
import type { BackoffManager } from "../loop/backoff-manager.ts";
import { conditionLoop, requireCondition } from "./condition-loop.ts";
import type { Condition, ConditionOptions, PollUntilOptions } from "./condition-options.ts";

/** Validates the options of a poll and runs it, with the manager that `managerFor` makes. */
export async function pollCondition(
  condition: Condition,
  options: PollUntilOptions,
  managerFor: (sliding: boolean, clock: Clock) => BackoffManager,
): Promise<void> {
  requireOptions("options", options);
  requireCondition(condition, options);
  const { clock = realClock, immediate = true, sliding = false, onError } = options;
  const { timeout = Number.POSITIVE_INFINITY } = options;
  requireBoolean("options.immediate", immediate);
  requireBoolean("options.sliding", sliding);
  requireNotNegative("options.timeout", timeout);
  requireClock("options.clock", clock);
  const manager = managerFor(sliding, clock);
  const deadline = new Deadline(timeout, { clock, signal: options.signal });
  const { signal } = deadline;
  try {
    if (!signal.aborted || !immediate)
      await conditionLoop({ condition, manager, immediate, sliding, signal, onError });
    else if (!(await isTrue(condition, signal, onError))) throw signal.reason;
  } finally {
    deadline[Symbol.dispose]();
  }
}

/** Asks once, as Go does even if the context is done. */
async function isTrue(
  condition: Condition,
  signal: AbortSignal,
  onError: ConditionOptions["onError"],
): Promise<boolean> {
  try {
    return await condition(signal);
  } catch (error) {
    if (onError === undefined || Object.is(error, signal.reason)) throw error;
    await onError(error);
    return false;
  }
}
