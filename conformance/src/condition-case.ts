import type { GoBackoff } from "./go-backoff.ts";
import type { GoInt } from "./nanoseconds.ts";

/** A call of a function of `wait` that asks a condition, as it is recorded. */
export interface ConditionInput {
  readonly api: string;
  readonly interval: GoInt;
  readonly backoff?: Required<GoBackoff>;
  readonly timeout?: GoInt;
  readonly immediate: boolean;
  readonly sliding: boolean;
  /** What each call of the condition does; the last entry repeats. */
  readonly cond: readonly Answer[];
  /** When the parent context is cancelled, and when its own deadline is. */
  readonly cancelAt?: GoInt;
  readonly parentDeadline?: GoInt;
  readonly alreadyCanceled?: boolean;
}

/** How long a call takes, and its result: false, true, an error, both, a panic, the context's error. */
export interface Answer {
  readonly d: GoInt;
  readonly r: "f" | "t" | "e" | "te" | "p" | "ctx";
}

/** How a call ended. */
export interface ConditionOutcome {
  readonly calls: readonly GoInt[];
  readonly endedAt: GoInt;
  readonly err: "nil" | "condition" | StopName | "waitTimeout";
  readonly interrupted: boolean;
  readonly parentCtxErr: "nil" | StopName;
  readonly u?: readonly number[];
  readonly arms?: readonly { readonly op: string }[];
  readonly waitersLeft?: number;
}

/** What stopped a call. */
export type StopName = "canceled" | "deadline";

export interface ConditionCase {
  readonly id: number;
  readonly in: ConditionInput;
  readonly out: ConditionOutcome;
  /** Every outcome that was seen, as JSON, where Go does not decide. */
  readonly race?: readonly string[];
}

/** The paths of what a case may consist of. */
export const conditionFields: readonly string[] = [
  "id",
  ...["api", "interval", "timeout", "immediate", "sliding", "cond"].map((name) => `in.${name}`),
  ...["duration", "factor", "jitter", "steps", "cap"].map((name) => `in.backoff.${name}`),
  ...["cancelAt", "parentDeadline", "alreadyCanceled"].map((name) => `in.${name}`),
  ...["calls", "endedAt", "err", "interrupted", "parentCtxErr"].map((name) => `out.${name}`),
  ...["u", "arms", "waitersLeft"].map((name) => `out.${name}`),
  "race",
];

/** What Go gave. Where it does not decide, an end comes before a call of the same instant here. */
export function outcomeOf({ out, race = [] }: ConditionCase): ConditionOutcome {
  const seen = [out, ...race.map((json) => JSON.parse(json) as ConditionOutcome)];
  return seen.reduce((best, other) => (other.calls.length < best.calls.length ? other : best));
}
