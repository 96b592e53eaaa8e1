import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Usage } from "./replica/report.ts";

// The flag adds `gc` to contexts created after it is set.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

let warnings = 0;
process.on("warning", () => {
  warnings += 1;
});

/** Resource usage of this process after a garbage collection, which takes about ten milliseconds. */
export function measureUsage(): Usage {
  collect();
  const events = process.eventNames();
  const resources = process.getActiveResourcesInfo();
  return {
    heap: process.memoryUsage().heapUsed,
    sockets: resources.filter((name) => /^(TCP|TLS)/.test(name)).length,
    listeners: events.reduce((sum, name) => sum + process.listenerCount(name), 0),
    warnings,
  };
}
