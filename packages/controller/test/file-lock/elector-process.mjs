// A process with an elector on a file lock. It sends { token, at } while it leads: an instant on the
// monotonic clock of the machine, which all processes share.
import { realClock } from "@holdfast/clock";
import { LeaderElector, silentLogger } from "@holdfast/controller";
import { FileLock } from "@holdfast/controller/file-lock";

const [, , directory, leaseDuration] = process.argv;
const lease = Number(leaseDuration);

const elector = new LeaderElector({
  lock: new FileLock(directory),
  identity: `${process.pid}`,
  leaseDuration: lease,
  renewDeadline: lease * 0.6,
  retryPeriod: lease * 0.02,
  logger: silentLogger,
  lead: async ({ token, signal }) => {
    while (!signal.aborted) {
      // First the instant, then the question: who was leader after it was leader at it.
      const at = Number(process.hrtime.bigint()) / 1e6;
      if (elector.isLeader) process.send?.({ token, at });
      await realClock.sleep(5, { signal });
    }
  },
});

const stop = new AbortController();
process.once("disconnect", () => process.exit());
process.once("SIGTERM", () => stop.abort());
await elector.run(stop.signal);
process.disconnect?.();
