import {
  activeResources,
  afterTurn,
  everyMillisecond,
  machineNow,
  machineTimers,
} from "../host/platform.ts";

const { setTimeout, clearTimeout } = machineTimers();

/** Handles of pending {@link eventLoop.later} calls, which the platform counts as resources. */
const pending = new Set<unknown>();

/**
 * The real event loop: fakes installed after this import do not affect it.
 *
 * When an immediate runs, every `nextTick` callback has run and every promise that could settle has
 * settled: Node empties both queues between any two immediates, also of one batch (nodejs/node#22842).
 * A browser does the same between two messages.
 */
export const eventLoop = {
  /** Calls back in the next turn; later in this turn if this is one immediate of a batch. */
  soon(callback: () => void): void {
    afterTurn(callback);
  },

  /**
   * Calls back after `delay` milliseconds of real time, with the lateness in milliseconds. The returned
   * function cancels the call.
   */
  later(delay: number, callback: (late: number) => void): () => void {
    const due = machineNow() + delay;
    const timer = setTimeout(() => {
      callback(machineNow() - due);
      pending.delete(timer);
    }, delay);
    pending.add(timer);
    return () => {
      clearTimeout(timer);
      pending.delete(timer);
    };
  },

  /** Calls back about every millisecond of real time; the returned function stops it. */
  watch(callback: () => void): () => void {
    return everyMillisecond(callback);
  },

  /** The kinds of resources the process waits for, if the platform lists them: a hint for messages. */
  resources(): string[] {
    return activeResources(pending.size);
  },
};
