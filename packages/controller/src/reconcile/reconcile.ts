/** What a {@link Reconciler} is asked to do. */
export interface Request<Item = string> {
  /** What to look at. No other reconcile of this key runs at the same time. */
  readonly key: string;

  /** The latest item that was added of this key; the key itself if items are strings. */
  readonly item: Item;

  /**
   * Counted from 1 since the last success: 3 means that it has failed twice. A failure while the
   * back-off of the one before is not over does not count.
   */
  readonly attempt: number;

  /** Why it runs: `"retry"`, `"requeue"`, or what the source that added it last says. */
  readonly reason: string;

  /**
   * Aborts when the reconcile takes longer than its timeout, with a `TimeoutError` of
   * `@holdfast/wait`, and when the controller has to stop before it is over, with the reason of that.
   *
   * It is made when it is read, so `{ ...request }` is without it. Everything else is copied.
   */
  readonly signal: AbortSignal;
}

/** What a {@link Reconciler} may return: nothing, or when to be run again. */
export type Result =
  | {
      /**
       * Run the key again after this many milliseconds, or before if something happens. At most 0
       * means at once, after a turn of the event loop; `Infinity` means only if something happens.
       */
      readonly requeueAfter: number;
    }
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a reconciler without a `return` is one
  | void;

/**
 * Makes one thing as it should be. It looks at how things are, not at what has happened, and may be
 * called at any time.
 *
 * | It | Then the key |
 * | --- | --- |
 * | returns nothing | rests until something happens |
 * | returns `{ requeueAfter }` | runs again then |
 * | throws or rejects | runs again after its back-off |
 * | throws a `RetryAfterError` | runs again when that says |
 * | throws a `TerminalError` | rests until something happens |
 *
 * Source: `Reconciler` of sigs.k8s.io/controller-runtime/pkg/reconcile.
 */
export type Reconciler<Item = string> = (request: Request<Item>) => Result | PromiseLike<Result>;
