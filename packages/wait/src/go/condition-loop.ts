import { requireFunction, requireHooks, requireSignal } from "@holdfast/clock/internal";
import { type LoopDelay, type LoopManager, type LoopWork, loop } from "../loop/loop.ts";
import type { Condition, ConditionOptions } from "./condition-options.ts";

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

/** Validates the options shared by all condition waits, except `clock`. */
export function requireCondition(condition: Condition, options: ConditionOptions): void {
  const { signal, onError } = options;
  requireFunction("condition", condition);
  if (signal !== undefined) requireSignal("options.signal", signal);
  requireHooks("options", { onError });
}
