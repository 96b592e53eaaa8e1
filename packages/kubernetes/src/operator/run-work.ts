import type { Clock } from "@holdfast/clock";
import { requireArray, requireMethods } from "@holdfast/clock/internal";
import { type Leadership, type Logger, Manager, type Runnable } from "@holdfast/controller";
import type { StartWork } from "./operator-options.ts";

/** Options for {@link runWork}. */
export interface WorkOptions {
  readonly start: StartWork;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Runs the work of one term until its signal aborts and all of it has ended, however long that takes: the
 * lease is held meanwhile. Rejects if a part fails, after the others have ended.
 */
export async function runWork(
  { start, clock, logger }: WorkOptions,
  leadership: Leadership,
): Promise<void> {
  const { signal, lost } = leadership;
  const parts = start(leadership);
  requireArray("the work of a term", parts);
  const manager = new Manager({ clock, logger, stopTimeout: Number.POSITIVE_INFINITY });
  for (const [index, part] of parts.entries()) {
    requireMethods(`the work of a term[${index}]`, part, ["run"]);
    manager.add(withLost(part, lost));
  }
  await manager.run(signal);
}

/** A controller drops everything on `lost`; other runnables do not know the option. */
function withLost(part: Runnable, lost: AbortSignal): Runnable {
  return {
    name: part.name,
    run: (signal, options) => part.run(signal, { ...options, lost } as typeof options),
    ready: async (signal) => part.ready?.(signal),
  };
}
