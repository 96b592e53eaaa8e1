import { type Clock, realClock } from "@holdfast/clock";
import {
  abortSignal,
  flag,
  func,
  type Kinds,
  loopClock,
  notNegative,
  read,
  requireFunction,
} from "@holdfast/kit";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { Deadline } from "../limit/deadline.ts";
import { type LoopDelay, type LoopManager, type LoopWork, loop } from "../loop/loop.ts";
import type { Condition, ConditionOptions, PollUntilOptions } from "./condition-options.ts";

export const POLL_UNTIL_OPTIONS: Kinds<PollUntilOptions> = {
  immediate: flag,
  sliding: flag,
  timeout: notNegative,
  signal: abortSignal,
  onError: func,
  clock: loopClock,
};

/** Options for {@link conditionLoop}. */
export type ConditionLoop = Omit<LoopWork<boolean>, "run" | "isDone" | "onError"> &
  (LoopDelay | LoopManager) & {
    readonly condition: Condition;
    readonly onError: ConditionOptions["onError"];
  };

/** Calls `condition` until it returns true. Rejects with `signal.reason` if the signal aborts first. */
export async function conditionLoop({
  condition,
  signal,
  onError,
  ...options
}: ConditionLoop): Promise<void> {
  const done = await loop({ ...options, run: condition, isDone: Boolean, onError, signal });
  if (done === undefined) throw signal.reason;
}

/** Validates the options of a poll and runs it with the delays that `delaysFor` returns. */
export async function pollCondition(
  condition: Condition,
  options: PollUntilOptions,
  delaysFor: (sliding: boolean, clock: Clock) => DelayFunc,
): Promise<void> {
  const given = read("options", options, "pollUntil", POLL_UNTIL_OPTIONS);
  const { clock = realClock, immediate = true, sliding = false } = given;
  const { signal: parent, onError, timeout = Number.POSITIVE_INFINITY } = given;
  requireFunction("condition", condition);
  const delay = delaysFor(sliding, clock);
  const deadline = new Deadline(timeout, { clock, signal: parent });
  const { signal } = deadline;
  try {
    if (!signal.aborted) {
      await conditionLoop({ condition, delay, clock, immediate, sliding, signal, onError });
      return;
    }
    if (!immediate) {
      clock.newTimer(delay()).stop(); // Go arms its first timer before it reads the context
      throw signal.reason;
    }
    // Go calls the condition once even if its context is done: the abort comes in that first call.
    const started = new AbortController();
    const askOnce: Condition = () => {
      started.abort(signal.reason);
      return condition(signal);
    };
    await conditionLoop({
      condition: askOnce,
      delay,
      clock,
      sliding,
      signal: started.signal,
      onError,
    });
  } catch (error) {
    throw deadline.withCaller(error);
  } finally {
    deadline.cancel();
  }
}
