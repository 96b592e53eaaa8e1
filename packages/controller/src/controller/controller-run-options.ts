import { requireSignal } from "@holdfast/clock/internal";
import { type ResolvedRunOptions, type RunOptions, resolveRun } from "../run-options.ts";

/** Options for `Controller.run`. */
export interface ControllerRunOptions extends RunOptions {
  /**
   * Signal that ends the right to work, such as `leadership.lost`. When it aborts, before, during or
   * after the abort of `signal`, no further key begins and keys in flight abort at once with
   * `lost.reason`: the grace is 0. Keys that ignore their signal still have `abortGrace`. It also stops
   * a controller whose `signal` has not aborted.
   *
   * @defaultValue none
   */
  readonly lost?: AbortSignal | undefined;
}

/** The options with their defaults. */
interface ResolvedControllerRunOptions extends ResolvedRunOptions {
  readonly lost: AbortSignal | undefined;
}

/** @throws TypeError if an option is of the wrong type */
export function resolveControllerRun(options: ControllerRunOptions): ResolvedControllerRunOptions {
  const { ref } = resolveRun(options);
  const { lost } = options;
  if (lost !== undefined) requireSignal("options.lost", lost);
  return { lost, ref };
}
