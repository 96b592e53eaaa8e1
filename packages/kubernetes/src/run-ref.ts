import type { RunOptions } from "@holdfast/controller";
import { anything, flag, type Kinds, read } from "@holdfast/kit";

export const RUN_OPTIONS: Kinds<RunOptions> = {
  ref: flag,
  leadership: anything,
  shards: anything,
  stopWithin: anything,
};

/**
 * Checks the options of a run. Returns whether it keeps the process alive.
 *
 * @throws TypeError that names the option
 */
export function runRef(options: RunOptions): boolean {
  const { ref = true } = read("options", options, "run", RUN_OPTIONS);
  return ref;
}
