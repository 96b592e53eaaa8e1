import { requireDelay } from "@holdfast/clock/internal";
import { isTerminalError, RetryAfterError } from "@holdfast/wait";
import type { ReconcileResult } from "../controller-metrics.ts";
import type { Result } from "./reconcile.ts";

/** How a reconciler has settled: with a result, or with an error. */
export type Settlement =
  | {
      /** It returned, or its promise resolved. */
      readonly kind: "returned";
      /** With what. */
      readonly result: Result;
    }
  | {
      /** It threw, or its promise rejected. */
      readonly kind: "threw";
      /** With what. */
      readonly error: unknown;
    };

/** What else decides what becomes of a key. */
export interface OutcomeFacts {
  /** How many failures of the key count, this one included if it is one. */
  readonly failures: number;
  /** How many of them may be retried. */
  readonly maxRetries: number;
  /** Why the signal of the reconcile has aborted, if it has. */
  readonly aborted: "timeout" | "stop" | undefined;
}

/** What becomes of a key, and what its reconcile counts as. */
export type Outcome =
  | {
      /** It rests; its failures are forgotten. */
      readonly kind: "forget";
      /** What it counts as. */
      readonly label: ReconcileResult;
    }
  | {
      /** It runs again; its failures are forgotten. */
      readonly kind: "requeueAfter";
      /** What it counts as. */
      readonly label: ReconcileResult;
      /** When, in milliseconds from now. */
      readonly delay: number;
    }
  | {
      /** It runs again, and its failures are kept. */
      readonly kind: "retry";
      /** What it counts as. */
      readonly label: ReconcileResult;
      /** When, in milliseconds from now; undefined if the limiter says it. */
      readonly delay: number | undefined;
      /** Why. */
      readonly error: unknown;
    }
  | {
      /** It rests though it has failed, for good or once too often; its failures are forgotten. */
      readonly kind: "drop" | "giveUp";
      /** What it counts as. */
      readonly label: ReconcileResult;
      /** Why. */
      readonly error: unknown;
    }
  | {
      /** It would have run on, if the controller did. */
      readonly kind: "interrupt";
      /** What it counts as. */
      readonly label: ReconcileResult;
    };

/**
 * What becomes of a key. The first row that fits decides; errors come before results.
 *
 * | The reconciler | Facts | Outcome | Label |
 * | --- | --- | --- | --- |
 * | threw a `TerminalError` | | drop | `terminal` |
 * | threw | told to stop | interrupt | `interrupted` |
 * | threw | more failures than retries | giveUp | `gave_up` |
 * | threw a `RetryAfterError` whose delay is a number | timed out, or not | retry after its delay | `timeout`, `error` |
 * | threw | timed out, or not | retry | `timeout`, `error` |
 * | returned `{ requeueAfter }` that is no number | | as if it threw a TypeError, or for NaN a RangeError | |
 * | returned something that cannot be read | | as if it threw what that throws | |
 * | returned `{ requeueAfter: Infinity }` | | forget | `requeue_after` |
 * | returned `{ requeueAfter }` | | requeueAfter, at least 0 | `requeue_after` |
 * | returned anything else | | forget | `success` |
 *
 * Source: `reconcileHandler` of sigs.k8s.io/controller-runtime. Differs: a terminal error forgets the
 * failures of its key; `requeueAfter` of 0 and below is at once, not never.
 */
export function outcomeOf(settlement: Settlement, facts: OutcomeFacts): Outcome {
  const answer = answerOf(settlement);
  if ("error" in answer) return outcomeOfError(answer.error, facts);
  const { requeueAfter } = answer;
  if (requeueAfter === undefined) return { kind: "forget", label: "success" };
  if (requeueAfter === Number.POSITIVE_INFINITY) return { kind: "forget", label: "requeue_after" };
  return { kind: "requeueAfter", label: "requeue_after", delay: requeueAfter };
}

/** Whether a settlement is a failure of its key, before anything is decided about it. */
export function isFailure(settlement: Settlement): boolean {
  return "error" in answerOf(settlement);
}

function outcomeOfError(error: unknown, facts: OutcomeFacts): Outcome {
  const { failures, maxRetries, aborted } = facts;
  if (isTerminalError(error)) return { kind: "drop", label: "terminal", error };
  if (aborted === "stop") return { kind: "interrupt", label: "interrupted" };
  if (failures > maxRetries) return { kind: "giveUp", label: "gave_up", error };
  const label = aborted === "timeout" ? "timeout" : "error";
  return { kind: "retry", label, delay: RetryAfterError.delayOf(error), error };
}

/** What a settlement asks for, or is wrong: a reconciler in JavaScript may return anything. */
function answerOf(
  settlement: Settlement,
): { readonly requeueAfter: number | undefined } | { readonly error: unknown } {
  if (settlement.kind === "threw") return settlement;
  try {
    const result = settlement.result as { readonly requeueAfter?: number } | null | undefined;
    const requeueAfter = result?.requeueAfter;
    if (requeueAfter === undefined) return { requeueAfter };
    return { requeueAfter: requireDelay("requeueAfter", requeueAfter) };
  } catch (error) {
    return { error };
  }
}
