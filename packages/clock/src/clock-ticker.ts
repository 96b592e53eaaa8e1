import { requirePeriod } from "./arguments.ts";
import type { Clock, Ticker, Timer, TimerOptions } from "./clock.ts";

type Tick = IteratorResult<number, undefined>;

const END: Tick = { done: true, value: undefined };

/** A {@link Ticker} on any clock: one timer, set to `start + index × period` again and again. */
export class ClockTicker implements Ticker {
  readonly #clock: Clock;
  readonly #timer: Timer;
  #state: "ticking" | "stopped" = "ticking";
  #period: number;
  #start: number;
  /** Which point of the grid the timer is set to. */
  #index = 1;
  #dropped = 0;
  /** The one-slot buffer. While it is full nobody is in `#takers`. */
  #buffered: number | undefined = undefined;
  readonly #takers: ((tick: Tick) => void)[] = [];

  constructor(clock: Clock, period: number, options: TimerOptions) {
    this.#clock = clock;
    this.#period = requirePeriod("period", period);
    this.#start = clock.monotonic();
    this.#timer = clock.afterFunc(period, () => this.#tick(), options);
  }

  get dropped(): number {
    return this.#dropped;
  }

  next(): Promise<Tick> {
    if (this.#state === "stopped") return Promise.resolve(END);
    if (this.#buffered === undefined) return new Promise((take) => this.#takers.push(take));
    const value = this.#buffered;
    this.#buffered = undefined;
    return Promise.resolve({ done: false, value });
  }

  return(): Promise<Tick> {
    this.stop();
    return Promise.resolve(END);
  }

  reset(period: number): void {
    this.#period = requirePeriod("period", period);
    this.#start = this.#clock.monotonic();
    this.#index = 1;
    this.#buffered = undefined;
    this.#state = "ticking";
    this.#timer.reset(period);
  }

  stop(): void {
    this.#state = "stopped";
    this.#timer.stop();
    this.#buffered = undefined;
    for (const take of this.#takers.splice(0)) take(END);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    this.#rearm(now);
    const take = this.#takers.shift();
    if (take !== undefined) take({ done: false, value: now });
    else if (this.#buffered === undefined) this.#buffered = now;
    else this.#dropped++;
  }

  /**
   * Goes on to the next point of the grid that is not past; those skipped are dropped ticks. A timer
   * more than 1 ms early is a fake one, whose time `now` does not know: it goes on by a period.
   */
  #rearm(now: number): void {
    const early = this.#start + this.#index * this.#period - now;
    const due = this.#index + 1;
    const passed = Math.floor((now - this.#start) / this.#period);
    this.#index = Math.max(due, passed + 1);
    this.#dropped += this.#index - due;
    const left = this.#start + this.#index * this.#period - now;
    this.#timer.reset(early > 1 ? this.#period : left);
  }
}
