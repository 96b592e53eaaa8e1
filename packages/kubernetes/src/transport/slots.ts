import { onAbort } from "@holdfast/clock";

/** A number of places. Requests that find none wait in order; one that gives up leaves the line. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with the function that gives the place back, once. Rejects with `signal.reason`. */
  async take(signal: AbortSignal): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    let isTaken = true;
    return () => {
      if (isTaken) this.#giveBack();
      isTaken = false;
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = (): void => {
        subscription[Symbol.dispose]();
        resolve();
      };
      this.#waiting.add(next);
      const subscription = onAbort(signal, (reason) => {
        this.#waiting.delete(next);
        reject(reason);
      });
    });
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
