import {
  type OptionNames,
  requireBoolean,
  requireOptions,
  requireSignal,
} from "@holdfast/clock/internal";

const OPTIONS: OptionNames<RunOptions> = {
  ref: true,
  lost: true,
};

/** Options for one run of a controller, an elector, a manager or another `Runnable`. */
export interface RunOptions {
  /**
   * Whether the run keeps the process alive while it is idle. It does so on `realClock` only. Pending
   * timers and requests keep the process alive in any case.
   *
   * @defaultValue `true`
   */
  readonly ref?: boolean | undefined;

  /**
   * Signal that ends the right to work, such as `leadership.lost`. A controller drops everything when it aborts, before,
   * during or after the abort of `signal`: no further key begins, and keys in flight abort at once with `lost.reason`.
   * The grace is 0; keys that ignore their signal still have `abortGrace`. It also stops a controller whose `signal` has
   * not aborted. Electors and managers ignore it.
   *
   * With `lost`, a stop by `signal` finishes the keys in flight and leaves the queued ones to the next leader, which
   * reconciles every key anyway.
   *
   * @defaultValue none
   */
  readonly lost?: AbortSignal | undefined;
}

/** The options with their defaults. */
export interface ResolvedRunOptions {
  readonly ref: boolean;
  readonly lost: AbortSignal | undefined;
}

/** @throws TypeError if an option is of the wrong type */
export function resolveRun(options: RunOptions): ResolvedRunOptions {
  requireOptions("options", options, "run", OPTIONS);
  const { ref = true, lost } = options;
  requireBoolean("options.ref", ref);
  if (lost !== undefined) requireSignal("options.lost", lost);
  return { ref, lost };
}
