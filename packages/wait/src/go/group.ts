import { isStop, requireFunction, requireSignal } from "@holdfast/kit";

/** A pending call of `wait()`. */
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs functions concurrently, and waits for all of them.
 *
 * | Event | Result |
 * | --- | --- |
 * | all functions have settled without a failure | {@link Group.wait} resolves |
 * | one function failed | `wait` rejects with its error when all functions have settled |
 * | several functions failed | `wait` rejects with an `AggregateError`, in the order of the failures |
 * | a function rejects with the reason of its own signal, after the abort | no failure |
 * | a function fails while no `wait` is pending | an unhandled rejection, which by default ends the process |
 *
 * Call `wait` right after `start`, and no failure is lost. A failure does not stop the other
 * functions: to stop them, abort the signal they share.
 *
 * Source: `Group` of k8s.io/apimachinery/pkg/util/wait. In Go a function returns nothing, and a panic
 * ends the process.
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
   * Starts a function. The call follows in a microtask.
   *
   * @param fn - the work; an error it throws or rejects with is a failure
   * @throws TypeError if `fn` is not a function
   */
  start(fn: () => unknown): void {
    requireFunction("fn", fn);
    this.#running++;
    void this.#run(fn);
  }

  /**
   * Starts a function with a signal. The function is called even if the signal has aborted.
   *
   * @param fn - the work; receives `signal` and should settle soon after it aborts
   * @param signal - the signal to pass to `fn`
   * @throws TypeError if an argument has the wrong type
   */
  startWithSignal(fn: (signal: AbortSignal) => unknown, signal: AbortSignal): void {
    requireFunction("fn", fn);
    requireSignal("signal", signal);
    this.#running++;
    void this.#run(() => fn(signal), signal);
  }

  /**
   * Waits until every function has settled, including functions started during the wait.
   *
   * @returns a promise that resolves at once if no function is running; it rejects with the failures
   * that occurred while a call of `wait` was pending
   */
  async wait(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
  }

  async #run(fn: () => unknown, signal?: AbortSignal): Promise<void> {
    await Promise.resolve(); // so that the caller can call `wait` before a failure
    try {
      await fn();
    } catch (error) {
      if (signal !== undefined && isStop(error, signal)) return;
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
      else
        reject(
          errors.length === 1
            ? errors[0]
            : new AggregateError(errors, `${errors.length} functions of a group failed`),
        );
    }
  }
}
