// A program in which nothing happens, so nothing but `run` keeps it alive. It stops itself with SIGTERM,
// by a timer that does not keep it alive either. Arguments: the part that runs, and its options.
import { Controller, LeaderElector, Manager, MemoryLock } from "@holdfast/controller";

const [kind, options] = process.argv.slice(2);

const stop = new AbortController();
const controller = new Controller({ name: "idle", reconcile: () => {} });
const manager = new Manager({ signals: process });
const elector = new LeaderElector({
  lock: new MemoryLock(),
  identity: "idle",
  lead: (leadership) => controller.run(leadership),
});

const runs = {
  manager: () => {
    manager.add(controller);
    return manager.run(undefined, JSON.parse(options));
  },
  "empty manager": () => manager.run(undefined, JSON.parse(options)),
  elector: () => {
    process.once("SIGTERM", () => stop.abort());
    return elector.run(stop.signal, JSON.parse(options));
  },
};

setTimeout(() => process.kill(process.pid, "SIGTERM"), 200).unref();
console.log("runs");
await runs[kind]();
console.log("stopped");
