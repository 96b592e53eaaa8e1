import { requireFunction, requireHooks, requireSignal } from "@holdfast/clock/internal";
import type { Condition, ConditionOptions } from "./condition-options.ts";
import { type Loop, loop } from "./loop.ts";

/** When a condition is asked, and what else decides the end. */
export interface ConditionLoop extends Omit<Loop<boolean>, "run" | "isDone" | "onError"> {
  readonly condition: Condition;
  readonly onError: ConditionOptions["onError"];
}

/** Asks until the condition is true. The abort of the signal keeps it from that, and so rejects. */
export async function conditionLoop({
  condition,
  signal,
  onError,
  ...options
}: ConditionLoop): Promise<void> {
  // Not the function itself, which would be told more than the error.
  const handle = onError && ((error: unknown) => onError(error));
  const handling = { run: condition, isDone: Boolean, onError: handle };
  const done = await loop({ ...options, ...handling, signal });
  if (done === undefined) throw signal.reason;
}

/** Checks what all waits for a condition can be told, but the clock, which whoever uses it checks. */
export function requireCondition(condition: Condition, options: ConditionOptions): void {
  const { signal } = options;
  requireFunction("condition", condition);
  if (signal !== undefined) requireSignal("options.signal", signal);
  requireHooks("options", options, ["onError"]);
}
