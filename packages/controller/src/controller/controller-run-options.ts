import { requireBoolean, requireOptions, requireSignal } from "@holdfast/clock/internal";

/** Options for `Controller.run`. */
export interface ControllerRunOptions {
  /**
   * Ends the right to work, such as `leadership.lost`. When it aborts, before, during or after the abort
   * of `signal`, no key begins any more and keys in flight abort at once with `lost.reason`: the grace
   * is 0. Keys that ignore their signal still have `abortGrace`. It also stops a controller whose
   * `signal` has not aborted.
   *
   * @defaultValue none
   */
  readonly lost?: AbortSignal | undefined;

  /**
   * Whether the run keeps the process alive. Only a controller on `realClock` does so.
   *
   * @defaultValue `true`
   */
  readonly ref?: boolean | undefined;
}

/** @throws TypeError if an option is of the wrong type */
export function resolveControllerRun(options: ControllerRunOptions): {
  readonly lost: AbortSignal | undefined;
  readonly ref: boolean;
} {
  requireOptions("options", options);
  const { lost, ref = true } = options;
  if (lost !== undefined) requireSignal("options.lost", lost);
  requireBoolean("options.ref", ref);
  return { lost, ref };
}
