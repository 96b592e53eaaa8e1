import type { Timer } from "@holdfast/clock";

/**
 * The timer of a delay that there is not, because the strategy has none left. It never fires; who
 * waits for it learns why. A loop that arms before it runs has its last run before that.
 */
export class SpentTimer implements Timer {
  readonly active: boolean = false;
  readonly deadline: number = Number.POSITIVE_INFINITY;
  readonly #error: unknown;

  /** @param error - what the strategy threw */
  constructor(error: unknown) {
    this.#error = error;
  }

  get fired(): Promise<never> {
    return Promise.reject(this.#error);
  }

  stop(): boolean {
    return false;
  }

  reset(): boolean {
    return false;
  }

  [Symbol.dispose](): void {}
}
