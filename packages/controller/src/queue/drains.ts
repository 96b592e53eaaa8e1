import { type Clock, onAbort, type Timer } from "@holdfast/clock";

/** How long to wait for a queue to be drained. */
export interface DrainOptions {
  /**
   * After how long to report what is still running, in milliseconds. At least 0, which is at once, or
   * `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * Ends the wait: it rejects at once with `signal.reason`, the same object. The queue stays shut
   * down.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** Who waits until nothing is left to do. */
export class Drains {
  readonly #waiting = new Set<() => void>();

  /** Resolves when {@link Drains.settle} is called, or the timeout is over. */
  wait(clock: Clock, timeout: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      let subscription: Disposable | undefined;
      const leave = (): void => {
        this.#waiting.delete(settle);
        timer?.stop();
        subscription?.[Symbol.dispose]();
      };
      const settle = (): void => {
        leave();
        resolve();
      };
      this.#waiting.add(settle);
      if (timeout < Number.POSITIVE_INFINITY)
        timer = clock.afterFunc(timeout, settle, { label: "drain" });
      if (signal === undefined) return;
      subscription = onAbort(signal, (reason) => {
        leave();
        reject(reason);
      });
    });
  }

  settle(): void {
    for (const settle of this.#waiting) settle();
  }
}
