// A process with a controller on the real clock. It prints its events, one per line, and exits when the
// event loop is empty.
import { Controller } from "@holdfast/controller";

const [, , scenario] = process.argv;
const stop = new AbortController();
const print = (event) => process.stdout.write(`${event}\n`);

process.once("beforeExit", () => print("event loop empty"));

const scenarios = {
  /** Nothing but the run can keep the process alive until the unref'd timer fires. */
  async held() {
    setTimeout(() => stop.abort(), 100).unref();
    const controller = new Controller({ name: "held", reconcile: () => {} });
    await controller.run(stop.signal);
    print("stopped");
  },

  /** The timer is for a process that hangs: without it there is nothing to wait for. */
  async unheld() {
    setTimeout(() => stop.abort(), 20_000).unref();
    const controller = new Controller({ name: "unheld", reconcile: () => {} });
    void controller.run(stop.signal, { ref: false }).then(() => print("stopped"));
  },

  /** A reconciler that adds its own key forever. */
  async busy() {
    let reconciles = 0;
    const controller = new Controller({
      name: "busy",
      reconcile({ key }) {
        if (++reconciles === 10_000) print("busy");
        controller.add(key);
      },
    });
    process.once("SIGTERM", () => {
      print("SIGTERM");
      stop.abort();
    });
    controller.add("a");
    await controller.run(stop.signal);
    print("stopped");
  },
};

await scenarios[scenario]();
