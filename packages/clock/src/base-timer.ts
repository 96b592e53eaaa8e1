import type { Timer } from "./clock.ts";
import { requireDelay } from "./internal/arguments.ts";
import { type Deferred, deferred } from "./internal/deferred.ts";

type TimerState = "waiting" | "fired" | "stopped";

/**
 * The part of a {@link Timer} that is the same on every clock: what `stop`, `reset` and `fired` mean.
 *
 * A subclass says how a wake-up is booked and cancelled, and calls {@link BaseTimer.expire} when it
 * comes. Write one only for a new kind of clock; see {@link BaseClock}.
 *
 * @example
 * ```ts
 * import { BaseTimer } from "@holdfast/clock";
 *
 * class ManualTimer extends BaseTimer {
 *   deadline = 0;
 *   constructor(delay: number) {
 *     super();
 *     this.reset(delay);
 *   }
 *   fireNow(): void {
 *     this.expire();
 *   }
 *   protected override arm(delay: number): void {
 *     this.deadline = delay;
 *   }
 *   protected override disarm(): void {}
 * }
 *
 * const timer = new ManualTimer(5);
 * timer.fireNow();
 * console.log(timer.active, timer.stop(), await timer.fired); // => false false true
 * ```
 */
export abstract class BaseTimer implements Timer {
  #state: TimerState = "stopped";
  #outcome: Deferred<boolean> | undefined = undefined;

  /** The monotonic instant at which the timer is, or was, due. */
  abstract readonly deadline: number;

  /**
   * Books the wake-up. Called with nothing booked.
   *
   * @param delay - milliseconds, at least 0, possibly `Infinity`
   */
  protected abstract arm(delay: number): void;

  /** Cancels the wake-up that {@link BaseTimer.arm} booked. */
  protected abstract disarm(): void;

  /** To be called when the wake-up comes, before any callback: the timer has then fired. */
  protected expire(): void {
    this.#state = "fired";
    this.#outcome?.resolve(true);
  }

  /** {@inheritDoc Timer.active} */
  get active(): boolean {
    return this.#state === "waiting";
  }

  /** {@inheritDoc Timer.fired} */
  get fired(): Promise<boolean> {
    if (this.#outcome === undefined) {
      this.#outcome = deferred();
      if (this.#state !== "waiting") this.#outcome.resolve(this.#state === "fired");
    }
    return this.#outcome.promise;
  }

  /** {@inheritDoc Timer.stop} */
  stop(): boolean {
    if (this.#state !== "waiting") return false;
    this.#state = "stopped";
    this.disarm();
    this.#outcome?.resolve(false);
    return true;
  }

  /** {@inheritDoc Timer.reset} */
  reset(delay: number): boolean {
    const duration = requireDelay("delay", delay);
    const waiting = this.#state === "waiting";
    if (waiting) this.disarm();
    else this.#outcome = undefined;
    this.#state = "waiting";
    this.arm(duration);
    return waiting;
  }

  /** {@inheritDoc Timer.stop} */
  [Symbol.dispose](): void {
    this.stop();
  }
}
