import { requireBoolean, requireOptions } from "@holdfast/clock/internal";

/** Options for one run of a controller, an elector or a manager. */
export interface RunOptions {
  /**
   * Whether the run keeps the process alive while it is idle. It does so on `realClock` only. Pending
   * timers and requests keep the process alive in any case.
   *
   * @defaultValue `true`
   */
  readonly ref?: boolean | undefined;
}

/** The options with their defaults. */
export interface ResolvedRunOptions {
  readonly ref: boolean;
}

/** @throws TypeError if an option is of the wrong type */
export function resolveRun(options: RunOptions): ResolvedRunOptions {
  requireOptions("options", options);
  const { ref = true } = options;
  requireBoolean("options.ref", ref);
  return { ref };
}
