import { type Clock, realClock } from "@holdfast/clock";
import {
  requireBoolean,
  requireClock,
  requireNotNegative,
  requireOptions,
} from "@holdfast/clock/internal";
import type { BackoffManager } from "./backoff-manager.ts";
import { conditionLoop, requireCondition } from "./condition-loop.ts";
import type { Condition, PollUntilOptions } from "./condition-options.ts";
import { deadlineSignal } from "./deadline-signal.ts";

/** Checks the options of a poll and lets it run, with what `managerFor` says decides its delays. */
export async function polling(
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
  const limit = deadlineSignal(clock, timeout, options.signal);
  try {
    const { signal } = limit;
    const when = { immediate, evenIfAborted: true, sliding };
    await conditionLoop({ condition, manager, ...when, signal, onError });
  } finally {
    limit[Symbol.dispose]();
  }
}
