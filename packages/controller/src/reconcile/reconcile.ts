import type { Leadership } from "../leadership.ts";

/** The argument of a {@link Reconciler}. */
export interface ReconcileRequest<Item = string> {
  /** The key to reconcile. No other reconcile of this key runs at the same time. */
  readonly key: string;

  /** The latest item that was added with this key; the key itself if items are strings. */
  readonly item: Item;

  /**
   * Number of this attempt, counted from 1 since the last success: the failures that the limiter counts
   * for the key, plus 1. A failure during the backoff of an earlier one does not count.
   */
  readonly attempt: number;

  /** Why the key runs: `"retry"`, `"requeue"`, or the reason of the source that added it last. */
  readonly reason: string;

  /**
   * The term under which the reconcile runs: that of its slot in a run with `shards`, otherwise that of the run. Its
   * `token` fences writes to a store of your own. Undefined in a run without either.
   */
  readonly leadership: Leadership | undefined;

  /**
   * Aborts when the reconcile exceeds its timeout, with a `TimeoutError` of `@holdfast/wait`, and when
   * the controller stops without waiting for it, with the reason of the stop.
   *
   * It is created when read, so `{ ...request }` lacks it. All other properties are copied.
   */
  readonly signal: AbortSignal;
}

/** The return value of a {@link Reconciler}: nothing, or the time of the next run. */
export type ReconcileResult =
  | {
      /**
       * Delay before the key runs again, in milliseconds; an event runs it earlier. At most 0 means at
       * once, after a turn of the event loop; `Infinity` means at the next event.
       */
      readonly requeueAfter: number;
    }
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a reconciler without a `return` is one
  | void;

/**
 * Brings one thing to its desired state. It compares the actual state with the desired one, not with
 * past events, and may be called at any time.
 *
 * | The reconciler | The key |
 * | --- | --- |
 * | returns nothing | rests until the next event |
 * | returns `{ requeueAfter }` | runs again then |
 * | throws or rejects | runs again after its backoff |
 * | throws a `RetryAfterError` | runs again after the delay of the error; `Infinity`: rests until the next event |
 * | throws a `TerminalError` | rests until the next event |
 *
 * A return after the abort of the signal is still a success. An error after the abort by `timeout` is a
 * failure like any other. An error after the abort by the controller's stop is not; `status().drain` names
 * the key.
 *
 * Each call has its own async context: a store entered with `AsyncLocalStorage.enterWith` does not leak
 * into the next call.
 *
 * Source: `Reconciler` of sigs.k8s.io/controller-runtime/pkg/reconcile.
 */
export type Reconciler<Item = string> = (
  request: ReconcileRequest<Item>,
) => ReconcileResult | PromiseLike<ReconcileResult>;
