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
import type { Condition, PollUntilOptions } from "./condition-options.ts";

/** Validates the options of a poll and runs it with the manager that `managerFor` returns. */
export async function pollCondition(
  condition: Condition,
  options: PollUntilOptions,
  managerFor: (sliding: boolean, clock: Clock) => BackoffManager,
): Promise<void> {
  requireOptions("options", options);
  const { clock = realClock, immediate = true, sliding = false } = options;
  const { signal: parent, onError, timeout = Number.POSITIVE_INFINITY } = options;
  requireCondition(condition, { signal: parent, onError });
  requireBoolean("options.immediate", immediate);
  requireBoolean("options.sliding", sliding);
  requireNotNegative("options.timeout", timeout);
  requireClock("options.clock", clock);
  const manager = managerFor(sliding, clock);
  const deadline = new Deadline(timeout, { clock, signal: parent });
  const { signal } = deadline;
  try {
    if (!signal.aborted) {
      await conditionLoop({ condition, manager, immediate, sliding, signal, onError });
      return;
    }
    if (!immediate) {
      manager.backoff().stop(); // Go draws its first delay before it reads the context
      throw signal.reason;
    }
    // Go calls the condition once even if its context is done: the abort comes in that first call.
    const started = new AbortController();
    const askOnce: Condition = () => {
      started.abort(signal.reason);
      return condition(signal);
    };
    await conditionLoop({ condition: askOnce, manager, sliding, signal: started.signal, onError });
  } finally {
    deadline.cancel();
  }
}
