import { Grid, requirePeriod } from "@holdfast/kit";
import type { Clock, Ticker, Timer, TimerOptions } from "./clock.ts";

type Tick = IteratorResult<number, undefined>;

const END: Tick = { done: true, value: undefined };

/** A {@link Ticker} on any clock: one timer that moves along a grid. */
export class ClockTicker implements Ticker {
  readonly #clock: Clock;
  readonly #timer: Timer;
  #state: "ticking" | "stopped" = "ticking";
  #grid: Grid;
  #dropped = 0;
  /** The one-slot buffer. While it is full, `#waiters` is empty. */
  #buffered: number | undefined = undefined;
  readonly #waiters: ((tick: Tick) => void)[] = [];

  constructor(clock: Clock, period: number, options: TimerOptions) {
    this.#clock = clock;
    this.#grid = new Grid(clock, requirePeriod("period", period));
    this.#timer = clock.afterFunc(period, () => this.#tick(), options);
  }

  get dropped(): number {
    return this.#dropped;
  }

  next(): Promise<Tick> {
    if (this.#state === "stopped") return Promise.resolve(END);
    if (this.#buffered === undefined) return new Promise((resolve) => this.#waiters.push(resolve));
    const value = this.#buffered;
    this.#buffered = undefined;
    return Promise.resolve({ done: false, value });
  }

  return(): Promise<Tick> {
    this.stop();
    return Promise.resolve(END);
  }

  reset(period: number): void {
    this.#grid = new Grid(this.#clock, requirePeriod("period", period));
    this.#buffered = undefined;
    this.#state = "ticking";
    this.#timer.reset(period);
  }

  stop(): void {
    this.#state = "stopped";
    this.#timer.stop();
    this.#buffered = undefined;
    for (const resolve of this.#waiters.splice(0)) resolve(END);
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
    const resolve = this.#waiters.shift();
    if (resolve !== undefined) resolve({ done: false, value: now });
    else if (this.#buffered === undefined) this.#buffered = now;
    else this.#dropped++;
  }

  /** Moves to the next point of the grid that is not in the past; skipped points are dropped ticks. */
  #rearm(now: number): void {
    const due = this.#grid.point + 1;
    this.#timer.reset(this.#grid.next(now));
    this.#dropped += this.#grid.point - due;
  }
}
