import { requireFunction, requireSignal } from "@holdfast/clock/internal";

/** Somebody who waits for a group. */
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Functions that run side by side, and a way to wait until all of them have ended.
 *
 * | What happens | What the group does |
 * | --- | --- |
 * | all have settled, none failed | {@link Group.wait} resolves |
 * | one failed | `wait` rejects with that error, once all have settled |
 * | several failed | `wait` rejects with an `AggregateError` of theirs, in the order in which they failed |
 * | one rejects with the reason of its own signal, after the abort | it has stopped as told: no failure |
 * | one fails while nobody waits | an unhandled rejection with that error, as of any promise that nobody looks at; by default it ends the process |
 *
 * So call `wait` where you have called `start`, and no failure is lost. A failure does not stop the
 * others: to do so, abort the signal they share.
 *
 * Source: `Group` of k8s.io/apimachinery/pkg/util/wait. There a function returns nothing, and one
 * that panics ends the process.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { Group, until } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const stop = new AbortController();
 * const group = new Group();
 * const probe = (signal: AbortSignal) =>
 *   until(() => console.log("probe"), 10_000, signal, { clock });
 * group.startWithSignal(probe, stop.signal);
 * group.startWithSignal((signal) => clock.sleep(60_000, { signal }), stop.signal);
 * const ended = group.wait();
 * await clock.step(15_000);
 * stop.abort();
 * await ended;
 * console.log("all stopped");
 * // => probe
 * // => probe
 * // => all stopped
 * ```
 */
export class Group {
  #running = 0;
  #errors: unknown[] = [];
  #waiters: Waiter[] = [];

  /**
   * Starts a function. It is called soon after, not from inside this call.
   *
   * @param fn - the work; what it throws or rejects with is a failure
   * @throws TypeError if `fn` is no function
   */
  start(fn: () => unknown): void {
    requireFunction("fn", fn);
    this.#running++;
    void this.#run(fn);
  }

  /**
   * Starts a function that a signal can stop. It is called even if the signal has aborted.
   *
   * @param fn - the work; it should give up soon after the signal aborts
   * @param signal - is given to `fn`
   * @throws TypeError if an argument is of the wrong type
   */
  startWithSignal(fn: (signal: AbortSignal) => unknown, signal: AbortSignal): void {
    requireFunction("fn", fn);
    requireSignal("signal", signal);
    this.#running++;
    void this.#run(() => fn(signal), signal);
  }

  /**
   * Waits until every function has settled, those included that are started meanwhile.
   *
   * @returns a promise that resolves then, at once if none runs; it rejects with the failures that
   * happened while somebody waited
   */
  async wait(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
  }

  async #run(fn: () => unknown, signal?: AbortSignal): Promise<void> {
    await Promise.resolve(); // so that whoever starts it can wait for it first
    try {
      await fn();
    } catch (error) {
      if (signal?.aborted === true && Object.is(error, signal.reason)) return;
      if (this.#waiters.length === 0) throw error;
      this.#errors.push(error);
    } finally {
      this.#end();
    }
  }

  #end(): void {
    if (--this.#running > 0) return;
    const errors = this.#errors;
    const waiters = this.#waiters;
    this.#errors = [];
    this.#waiters = [];
    for (const { resolve, reject } of waiters) {
      if (errors.length === 0) resolve();
      else reject(errors.length === 1 ? errors[0] : new AggregateError(errors, several(errors)));
    }
  }
}

function several(errors: readonly unknown[]): string {
  return `${errors.length} functions of a group failed`;
}
