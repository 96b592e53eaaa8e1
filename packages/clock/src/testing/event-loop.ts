import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from "node:timers";

/** Taken while it is the machine's own. */
const now = performance.now.bind(performance);

/** Our own timers, which Node counts among the resources of the process. */
const booked = new Set<NodeJS.Timeout>();

/**
 * The real event loop, as the driver of a fake clock needs it.
 *
 * Named imports from `node:timers` keep the native functions, whatever a library fakes later. When
 * an immediate runs, every `nextTick` and every promise that could settle has settled: Node empties
 * both queues between any two immediates, also of one batch (nodejs/node#22842).
 */
export const eventLoop = {
  /** Calls back in the next turn, or later in this one if this is an immediate of a batch. */
  soon(callback: () => void): void {
    setImmediate(callback);
  },

  /**
   * Calls back after real time, with how late that is in milliseconds; the returned function calls it
   * off.
   */
  later(delay: number, callback: (late: number) => void): () => void {
    const due = now() + delay;
    const timer = setTimeout(() => {
      callback(now() - due);
      booked.delete(timer);
    }, delay);
    booked.add(timer);
    return () => {
      clearTimeout(timer);
      booked.delete(timer);
    };
  },

  /**
   * Calls back about every millisecond of real time, without keeping the process alive; the returned
   * function calls it off.
   */
  watch(callback: () => void): () => void {
    const timer = setInterval(callback, 1).unref();
    return () => clearInterval(timer);
  },

  /** What the process waits for, as far as Node tells; a hint for messages, never for decisions. */
  resources(): string[] {
    let own = booked.size;
    const names = process.getActiveResourcesInfo().filter((name) => {
      return name !== "Timeout" || own-- <= 0;
    });
    return [...new Set(names)];
  },
};
