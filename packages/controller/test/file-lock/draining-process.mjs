// A process whose elector runs a controller with six keys, one after another. It appends the begin and
// the end of each key to a log that several processes share. SIGTERM stops it. After a message, its lock
// answers no more.
import { appendFileSync } from "node:fs";
import { realClock } from "@holdfast/clock";
import { Controller, LeaderElector, silentLogger as logger } from "@holdfast/controller";
import { FileLock } from "@holdfast/controller/file-lock";

const [directory, log, worker, times] = process.argv.slice(2);
const { leaseDuration, renewDeadline, keyTime } = JSON.parse(times);

let isAway = false;
process.on("message", () => {
  isAway = true;
});

class RemovableLock extends FileLock {
  get(signal) {
    return isAway ? new Promise(() => {}) : super.get(signal);
  }
  create(record, signal) {
    return isAway ? new Promise(() => {}) : super.create(record, signal);
  }
  update(record, version, signal) {
    return isAway ? new Promise(() => {}) : super.update(record, version, signal);
  }
}

const note = (event, key) => appendFileSync(log, `${JSON.stringify({ worker, event, key })}\n`);

const elector = new LeaderElector({
  lock: new RemovableLock(directory),
  identity: worker,
  leaseDuration,
  renewDeadline,
  retryPeriod: 100,
  logger,
  lead: async (leadership) => {
    const controller = new Controller({
      name: worker,
      grace: 60_000,
      logger,
      async reconcile({ key, signal: told }) {
        note("begin", key);
        process.send?.(key);
        try {
          await realClock.sleep(keyTime, { signal: told });
        } finally {
          note("end", key);
        }
      },
    });
    for (const key of ["1", "2", "3", "4", "5", "6"]) controller.add(key);
    await controller.run(leadership);
  },
});

const stop = new AbortController();
process.once("disconnect", () => process.exit());
process.once("SIGTERM", () => stop.abort());
await elector.run(stop.signal);
process.disconnect();
