import type { PassiveClock } from "@holdfast/clock";
import type { WorkInFlight } from "./queue-metrics.ts";

/** Work items that are taken and not done, the oldest first. For metrics. */
export class InFlight implements WorkInFlight {
  readonly #clock: PassiveClock;
  readonly #work = new Set<{ readonly startedAt: number }>();

  constructor(clock: PassiveClock) {
    this.#clock = clock;
  }

  get unfinished(): number {
    const now = this.#clock.monotonic();
    let sum = 0;
    for (const { startedAt } of this.#work) sum += now - startedAt;
    return sum;
  }

  get longestRunning(): number {
    const [first] = this.#work;
    return first === undefined ? 0 : this.#clock.monotonic() - first.startedAt;
  }

  add(work: { readonly startedAt: number }): void {
    this.#work.add(work);
  }

  delete(work: { readonly startedAt: number }): void {
    this.#work.delete(work);
  }
}
