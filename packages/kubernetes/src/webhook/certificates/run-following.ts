import type { Clock } from "@holdfast/clock";
import { type Controller, type Logger, Manager } from "@holdfast/controller";
import type { Cluster } from "../../cluster/cluster.ts";

/** Runs caches, and a controller over them, until `signal` aborts. */
export async function runFollowing(
  { cluster, controller }: { readonly cluster: Cluster; readonly controller: Controller },
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  const groups = [{ name: "caches" }, { name: "work", startTimeout: Number.POSITIVE_INFINITY }];
  const manager = new Manager({ groups, clock, logger: forDebugging(logger) });
  manager.add(cluster, { group: "caches" });
  manager.add(controller, { group: "work" });
  await manager.run(signal);
}

/** A logger whose methods are those of a class, perhaps, with its events of a healthy program for debugging alone. */
function forDebugging(logger: Logger): Logger {
  return {
    debug: (...line) => logger.debug(...line),
    info: (...line) => logger.debug(...line),
    warn: (...line) => logger.warn(...line),
    error: (...line) => logger.error(...line),
  };
}
