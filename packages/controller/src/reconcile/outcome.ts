import { MAX_RETRY_AFTER, requireDelay, retryAfterOf } from "@holdfast/kit";
import { isTerminalError } from "@holdfast/wait";
import type { ReconcileOutcome } from "../controller-metrics.ts";
import type { ReconcileResult } from "./reconcile.ts";

/** The result of a reconciler's call. */
export type Settlement =
  | {
      /** It returned, or its promise resolved. */
      readonly kind: "returned";
      readonly result: ReconcileResult;
    }
  | {
      /** It threw, or its promise rejected. */
      readonly kind: "threw";
      readonly error: unknown;
    };

/** Why the signal of a reconcile has aborted, if it has. */
export type AbortCause = "timeout" | "stop" | undefined;

/** The next step for a key, and the label of its reconcile. */
export type Outcome =
  | {
      /** The key rests; its failures are forgotten. */
      readonly kind: "forget";
      readonly label: ReconcileOutcome;
    }
  | {
      /** The key runs again after `delay` milliseconds; its failures are forgotten. */
      readonly kind: "requeueAfter";
      readonly label: ReconcileOutcome;
      readonly delay: number;
    }
  | RetryOutcome
  | {
      /** The key rests although it has failed; its failures are forgotten. */
      readonly kind: "drop" | "giveUp";
      readonly label: ReconcileOutcome;
      readonly error: unknown;
    }
  | {
      /** The reconcile was stopped together with its controller. */
      readonly kind: "interrupt";
      readonly label: ReconcileOutcome;
    };

/** The key runs again, and its failure counts. */
export interface RetryOutcome {
  readonly kind: "retry";
  readonly label: ReconcileOutcome;
  /** Minimum delay in milliseconds; undefined if the limiter decides alone. */
  readonly delay: number | undefined;
  readonly error: unknown;
}

/** An outcome whose failure is counted: a retry has its delay. */
export type CountedOutcome =
  | Exclude<Outcome, RetryOutcome>
  | (RetryOutcome & { readonly delay: number });

/**
 * The next step for a key. The first matching row decides; errors come before results.
 *
 * | The reconciler | Its signal | Outcome | Label |
 * | --- | --- | --- | --- |
 * | threw a `TerminalError` | | drop | `terminal` |
 * | threw | aborted by the stop | interrupt | `interrupted` |
 * | threw a `RetryAfterError` with a valid delay | aborted by the timeout, or not | retry after its delay, at most `maxRetryAfter` | `timeout`, `error` |
 * | threw | aborted by the timeout, or not | retry | `timeout`, `error` |
 * | returned an invalid `requeueAfter` | | as if it threw a RangeError (for NaN) or a TypeError | |
 * | returned an object that throws when read | | as if it threw that error | |
 * | returned something else than nothing or `{ requeueAfter }` | | as if it threw a TypeError that names the key | |
 * | returned `{ requeueAfter: Infinity }` | | forget | `requeue_after` |
 * | returned `{ requeueAfter }` | | requeueAfter, at least 0 | `requeue_after` |
 * | returned nothing | | forget | `success` |
 *
 * Source: `reconcileHandler` of sigs.k8s.io/controller-runtime. Differs: a terminal error forgets the
 * failures of its key; `requeueAfter` of 0 and below is at once, not never.
 */
export function outcomeOf(
  settlement: Settlement,
  aborted: AbortCause,
  key: string,
  maxRetryAfter: number = MAX_RETRY_AFTER,
): Outcome {
  const result = resultOf(settlement, key);
  if ("error" in result) return outcomeOfError(result.error, aborted, maxRetryAfter);
  const { requeueAfter } = result;
  if (requeueAfter === undefined) return { kind: "forget", label: "success" };
  if (requeueAfter === Number.POSITIVE_INFINITY) return { kind: "forget", label: "requeue_after" };
  return { kind: "requeueAfter", label: "requeue_after", delay: requeueAfter };
}

/** The retry itself, or a give-up if `failures`, this one included, exceed `retries`. */
export function limitRetries<Retry extends RetryOutcome>(
  retry: Retry,
  failures: number,
  retries: number,
): Retry | Exclude<Outcome, RetryOutcome> {
  if (failures <= retries) return retry;
  return { kind: "giveUp", label: "gave_up", error: retry.error };
}

function outcomeOfError(error: unknown, aborted: AbortCause, maxRetryAfter: number): Outcome {
  if (isTerminalError(error)) return { kind: "drop", label: "terminal", error };
  if (aborted === "stop") return { kind: "interrupt", label: "interrupted" };
  const label = aborted === "timeout" ? "timeout" : "error";
  return { kind: "retry", label, delay: retryAfterOf(error, maxRetryAfter), error };
}

/** The result of a settlement, validated: a reconciler in JavaScript may return anything. */
function resultOf(
  settlement: Settlement,
  key: string,
): { readonly requeueAfter: number | undefined } | { readonly error: unknown } {
  if (settlement.kind === "threw") return settlement;
  try {
    const { result } = settlement;
    if (result === undefined || result === null) return { requeueAfter: undefined };
    const names = typeof result === "object" ? Object.keys(result) : [];
    const { requeueAfter } = result as { readonly requeueAfter?: number };
    if (names.some((name) => name !== "requeueAfter") || !("requeueAfter" in Object(result)))
      throw new TypeError(
        `the reconcile of key ${JSON.stringify(key)} must return nothing or { requeueAfter }, got ${described(result, names)}`,
      );
    if (requeueAfter === undefined) return { requeueAfter };
    return { requeueAfter: requireDelay("requeueAfter", requeueAfter) };
  } catch (error) {
    return { error };
  }
}

/** A result by its kind or the names of its properties, without their values. */
function described(result: unknown, names: readonly string[]): string {
  if (typeof result !== "object" || Array.isArray(result))
    return Array.isArray(result) ? "an array" : `a ${typeof result}`;
  const shown = names.slice(0, 5).join(", ");
  return names.length === 0 ? "{}" : `{ ${shown}${names.length > 5 ? ", …" : ""} }`;
}
