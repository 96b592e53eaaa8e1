import { LivelockError } from "./livelock-error.ts";
import type { VirtualTime } from "./virtual-time.ts";

type GuardedTime = Pick<VirtualTime, "monotonic" | "size">;

/**
 * After this many firings at one instant, the code either has many timers or loops with a delay of 0.
 * Many timers are all armed by then; a loop arms another one.
 */
const MANY_AT_ONE_INSTANT = 100_000;

/** Counts the timers that one method fires, and throws if it would never end. */
export class LivelockGuard {
  readonly #time: GuardedTime;
  readonly #maxTimers: number;
  #fired = 0;
  #instant = Number.NEGATIVE_INFINITY;
  #atThisInstant = 0;
  #limitAtThisInstant = MANY_AT_ONE_INSTANT;

  constructor(time: GuardedTime, maxTimers: number) {
    this.#time = time;
    this.#maxTimers = maxTimers;
  }

  get fired(): number {
    return this.#fired;
  }

  /** Counts a timer that has just fired. */
  count(label: string | undefined): void {
    const instant = this.#time.monotonic();
    if (instant !== this.#instant) {
      this.#instant = instant;
      this.#atThisInstant = 0;
      this.#limitAtThisInstant = MANY_AT_ONE_INSTANT;
    }
    this.#fired++;
    this.#atThisInstant++;
    if (this.#atThisInstant === MANY_AT_ONE_INSTANT) this.#limitAtThisInstant += this.#time.size;
    if (this.#atThisInstant > this.#limitAtThisInstant) {
      const limit = `${MANY_AT_ONE_INSTANT} timers fired without time moving`;
      throw new LivelockError(limit, this.#fired, label);
    }
    if (this.#fired > this.#maxTimers)
      throw new LivelockError(
        `more than ${this.#maxTimers} timers fired (maxTimers)`,
        this.#fired,
        label,
      );
  }
}
