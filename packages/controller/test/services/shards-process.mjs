// A process with shards on the locks of a store. For each slot it sends { slot, token, at } while it holds it: an instant
// on the monotonic clock of the machine, which all processes share. It sends { held } after each look.
import { realClock } from "@holdfast/clock";
import { Shards, silentLogger } from "@holdfast/controller";
import { locksOf } from "./locks.mjs";

const [, , kind, url, leaseDuration, count] = process.argv;
const lease = Number(leaseDuration);
const { lockOf } = await locksOf(kind, url);

const shards = new Shards({
  count: Number(count),
  identity: `${process.pid}-${Date.now()}`,
  lockOf,
  leaseDuration: lease,
  renewDeadline: lease * 0.6,
  retryPeriod: lease * 0.1,
  logger: silentLogger,
  lead: async (leadership) => {
    const { slot, token, signal } = leadership;
    while (!signal.aborted) {
      // First the instant, then the question: a process that holds the slot after it held it at that instant.
      const at = Number(process.hrtime.bigint()) / 1e6;
      if (leadership.isHeld) process.send?.({ slot, token, at });
      await realClock.sleep(20, { signal }).catch(() => {});
    }
  },
});

const stop = new AbortController();
process.once("message", () => stop.abort());
process.once("disconnect", () => process.exit());
const held = setInterval(() => process.send?.({ held: shards.status().held.length }), 100);
await shards.run(stop.signal);
clearInterval(held);
process.disconnect();
