import type { TimerHost } from "../../src/host/host-timer.ts";

/** A host that wakes when told to, and keeps a list of what it was asked for. */
export class ManualHost implements TimerHost {
  readonly longest = 1000;
  readonly booksForever: boolean;
  readonly asked: number[] = [];
  time = 0;
  #wake: (() => void) | undefined = undefined;

  constructor(booksForever = true) {
    this.booksForever = booksForever;
  }

  monotonic(): number {
    return this.time;
  }

  set(wake: () => void, delay: number): unknown {
    this.asked.push(delay);
    this.#wake = wake;
    return this.asked.length;
  }

  clear(handle: unknown): void {
    if (handle === this.asked.length) this.#wake = undefined;
  }

  get booked(): boolean {
    return this.#wake !== undefined;
  }

  wakeAt(time: number): void {
    this.time = time;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
