import { requireFunction, requireHooks, requireSignal } from "@holdfast/clock/internal";
import type { Condition, ConditionOptions } from "./condition-options.ts";
import { type Loop, loop } from "./loop.ts";

/** When a condition is asked, and what else decides the end. */
export interface ConditionLoop extends Omit<Loop<boolean>, "run" | "isDone"> {
  readonly condition: Condition;
}

/** Asks until the condition is true. The abort of the signal keeps it from that, and so rejects. */
export async function conditionLoop({
  condition,
  signal,
  ...options
}: ConditionLoop): Promise<void> {
  const done = await loop({ ...options, run: condition, isDone: Boolean, signal });
  if (done === undefined) throw signal.reason;
}

/** Checks what all waits for a condition can be told, but the clock, which whoever uses it checks. */
export function requireCondition(condition: Condition, options: ConditionOptions): void {
  const { signal } = options;
  requireFunction("condition", condition);
  if (signal !== undefined) requireSignal("options.signal", signal);
  requireHooks("options", options, ["onError"]);
}
