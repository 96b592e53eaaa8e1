import { type Deferred, deferred, requireDelay } from "@holdfast/kit";
import type { Timer } from "./clock.ts";

type TimerState = "waiting" | "fired" | "stopped";

/**
 * The part of a {@link Timer} that is the same on every clock: `stop`, `reset` and `fired`.
 *
 * A subclass arms and disarms a wake-up, and calls {@link BaseTimer.expire} when it comes. Extend this
 * class only for a new kind of clock; see {@link BaseClock}.
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
   * Arms the wake-up. Called only while it is not armed.
   *
   * @param delay - milliseconds, at least 0, possibly `Infinity`
   */
  protected abstract arm(delay: number): void;

  /** Cancels the wake-up that {@link BaseTimer.arm} armed. */
  protected abstract disarm(): void;

  /** Marks the timer as fired. Call it when the wake-up comes, before any callback. */
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
