// A process with an elector on the lock of a server. While it leads it sends { token, at }: an instant on the
// monotonic clock of the machine, which all processes share. When its `lost` aborts it sends { token, lost: true }.
import { onAbort, realClock } from "@holdfast/clock";
import { LeaderElector, silentLogger } from "@holdfast/controller";
import { locksOf } from "./locks.mjs";

const [, , kind, url, leaseDuration] = process.argv;
const lease = Number(leaseDuration);
const { lockOf } = await locksOf(kind, url);

const elector = new LeaderElector({
  lock: lockOf("leader"),
  identity: `${process.pid}`,
  leaseDuration: lease,
  renewDeadline: lease * 0.6,
  retryPeriod: lease * 0.05,
  logger: silentLogger,
  lead: async ({ token, signal, lost }) => {
    onAbort(lost, () => process.send?.({ token, lost: true }));
    while (!signal.aborted) {
      // First the instant, then the question: a process that is leader after it was leader at it.
      const at = Number(process.hrtime.bigint()) / 1e6;
      if (elector.isLeader) process.send?.({ token, at });
      await realClock.sleep(5, { signal });
    }
  },
});

process.once("disconnect", () => process.exit());
await elector.run(new AbortController().signal);
