import { onAbort } from "@holdfast/clock";

/** Waits for facts that change elsewhere. */
export class Progress {
  readonly #checks = new Set<() => void>();

  /** How many waits are pending. */
  get waits(): number {
    return this.#checks.size;
  }

  /** Call it after a fact may have changed. */
  notify(): void {
    for (const check of this.#checks) check();
  }

  /** Resolves as soon as `isTrue()`. Rejects with `signal.reason` after an abort. */
  until(isTrue: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (isTrue()) return resolve();
      const check = (): void => {
        if (!isTrue()) return;
        this.#checks.delete(check);
        subscription[Symbol.dispose]();
        resolve();
      };
      const subscription = onAbort(signal, (reason) => {
        this.#checks.delete(check);
        reject(reason);
      });
      this.#checks.add(check);
    });
  }
}
