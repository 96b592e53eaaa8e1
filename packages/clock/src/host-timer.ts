import { BaseTimer } from "./base-timer.ts";
import { MOST_CORRECTIONS, type TimerHost } from "./timer-host.ts";

/** A timer over a host's: never early, and with delays as long as anyone likes. */
export class HostTimer extends BaseTimer {
  readonly #host: TimerHost;
  readonly #fire: () => void;
  readonly #ref: boolean;
  #deadline = 0;
  #handle: unknown = undefined;
  /** What the wake-ups booked so far leave uncovered; above 0 only for delays over `longest`. */
  #uncovered = 0;
  #corrections = 0;

  /** The timer is armed by {@link HostTimer.reset}. */
  constructor(host: TimerHost, fire: () => void, ref: boolean) {
    super();
    this.#host = host;
    this.#fire = fire;
    this.#ref = ref;
  }

  override get deadline(): number {
    return this.#deadline;
  }

  protected override arm(delay: number): void {
    this.#deadline = this.#host.monotonic() + delay;
    this.#uncovered = delay;
    this.#corrections = 0;
    if (delay < Number.POSITIVE_INFINITY || this.#host.booksForever) this.#book(delay);
  }

  protected override disarm(): void {
    if (this.#handle !== undefined) this.#host.clear(this.#handle);
    this.#handle = undefined;
  }

  #book(delay: number): void {
    const leg = Math.min(delay, this.#host.longest);
    this.#uncovered -= leg;
    this.#set(leg);
  }

  #set(delay: number): void {
    // A bound function is half as large as an arrow function with the scope that holds its `this`.
    this.#handle = this.#host.set(this.#wake.bind(this), delay, this.#ref);
  }

  #wake(): void {
    const left = this.#deadline - this.#host.monotonic();
    if (left > 0 && this.#uncovered > 0) {
      this.#uncovered = Math.min(left, this.#uncovered);
      this.#book(this.#uncovered);
    } else if (left > 0 && left <= 1 && this.#corrections < MOST_CORRECTIONS) {
      this.#corrections++;
      this.#set(1);
    } else {
      this.#handle = undefined;
      this.expire();
      this.#fire();
    }
  }
}
