// The abilities that differ between the platforms. A runtime states its own in runtimes/list.mjs.
import { onAbort, realClock } from "@holdfast/clock";
import { hiddenAbort } from "./expect.mjs";

/** @type {Record<string, () => boolean | Promise<boolean>>} */
export const abilities = {
  /** An abort that another listener hides is heard in the turn of the abort. */
  hiddenAbort() {
    const stop = hiddenAbort();
    let isHeard = false;
    const subscription = onAbort(stop.signal, () => {
      isHeard = true;
    });
    stop.abort();
    const heardAtOnce = isHeard;
    subscription[Symbol.dispose]();
    return heardAtOnce;
  },

  /** The callback of a timer runs in the `AsyncLocalStorage` context of `afterFunc`, also after a reset. */
  async asyncContext() {
    const hooks = globalThis.process?.getBuiltinModule?.("node:async_hooks");
    if (hooks?.AsyncLocalStorage === undefined) return false;
    const storage = new hooks.AsyncLocalStorage();
    return new Promise((resolve) => {
      const timer = storage.run("caller", () =>
        realClock.afterFunc(60_000, () => resolve(storage.getStore() === "caller")),
      );
      storage.run("other", () => timer.reset(1));
    });
  },
};
