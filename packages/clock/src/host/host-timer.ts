import { BaseTimer } from "../base-timer.ts";

/** The timers of a platform or a library, such as `setTimeout`. */
export interface TimerHost {
  /** The longest delay that {@link TimerHost.set} accepts, in milliseconds. */
  readonly longest: number;
  /**
   * Whether to set an infinite timer: a real one keeps the process alive, a virtual one would wake up
   * forever.
   */
  readonly booksForever: boolean;
  /**
   * Whether {@link TimerHost.monotonic} shows how early or late a wake-up is. It does not while timers
   * are faked and the time is not: each wake-up then counts as punctual.
   */
  readonly measuresTimers: boolean;
  monotonic(): number;
  /** Calls `wake` after about `delay`; hosts may be some milliseconds early. */
  set(wake: () => void, delay: number, ref: boolean): unknown;
  /** Cancels a wake-up; if it still arrives, it is ignored. */
  clear(handle: unknown): void;
}

/**
 * libuv counts whole milliseconds of a clock that moves with each tick of the kernel, so a timer may wake
 * 1 ms and a tick early (nodejs/node#26578). Each correction of 1 ms ends at the next tick. The two bounds
 * matter for fakes that cannot be detected: their deadline may never come, and without bounds the timer
 * would never fire.
 */
const MAXIMUM_CORRECTIONS = 3;
const MAXIMUM_EARLINESS = 4;

/** A timer on the timers of a host: never early, and with delays of any length. */
export class HostTimer extends BaseTimer {
  readonly #host: TimerHost;
  readonly #fire: () => void;
  readonly #ref: boolean;
  #deadline = 0;
  #handle: unknown = undefined;
  /** The part of the delay that is not scheduled yet; above 0 only for delays over `longest`. */
  #uncovered = 0;
  #corrections = 0;
  /** The number of cancelled wake-ups: a wake-up with a lower number was cancelled and does nothing. */
  #cancelled = 0;

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
    this.#cancelled++;
  }

  #book(delay: number): void {
    const leg = Math.min(delay, this.#host.longest);
    this.#uncovered -= leg;
    // A bound function is half as large as an arrow function with the scope that holds its `this`.
    this.#handle = this.#host.set(this.#wake.bind(this, this.#cancelled), leg, this.#ref);
  }

  #wake(booking: number): void {
    if (booking !== this.#cancelled) return;
    const left = this.#deadline - this.#host.monotonic();
    if (left > 0 && this.#uncovered > 0) {
      this.#uncovered = Math.min(left, this.#uncovered);
      this.#book(this.#uncovered);
    } else if (left > 0 && left <= MAXIMUM_EARLINESS && this.#mayCorrect()) {
      this.#corrections++;
      this.#book(1);
    } else {
      this.#handle = undefined;
      this.expire();
      this.#fire();
    }
  }

  #mayCorrect(): boolean {
    return this.#corrections < MAXIMUM_CORRECTIONS && this.#host.measuresTimers;
  }
}
