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
  const stopTimeout = Number.POSITIVE_INFINITY;
  const manager = new Manager({ clock, logger: ofTerm(logger), stopTimeout });
  for (const [index, part] of parts.entries()) {
    requireMethods(`the work of a term[${index}]`, part, ["run"]);
    manager.add(withLost(part, lost));
  }
  await manager.run(signal);
}

/** The operator's own manager tells that it runs and stops. That of a term tells it for debugging only. */
function ofTerm(logger: Logger): Logger {
  return {
    debug: (details, message) => logger.debug(details, message),
    info: (details, message) => logger.debug({ ...details, of: "the term" }, message),
    warn: (details, message) => logger.warn(details, message),
    error: (details, message) => logger.error(details, message),
  };
}

/** A controller drops everything on `lost`; other runnables do not know the option. */
function withLost(part: Runnable, lost: AbortSignal): Runnable {
  return {
    name: part.name,
    run: (signal, options) => part.run(signal, { ...options, lost } as typeof options),
    ready: async (signal) => part.ready?.(signal),
  };
}
