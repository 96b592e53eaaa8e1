import type { RunOptions } from "@holdfast/controller";
import { type OptionNames, requireBoolean, requireOptions } from "@holdfast/kit";

const OPTIONS: OptionNames<RunOptions> = {
  ref: true,
  leadership: true,
  shards: true,
  stopWithin: true,
};

/**
 * Checks the options of a run. Returns whether it keeps the process alive.
 *
 * @throws TypeError that names the option
 */
export function runRef(options: RunOptions): boolean {
  requireOptions("options", options, "run", OPTIONS);
  const { ref = true } = options;
  requireBoolean("options.ref", ref);
  return ref;
}
