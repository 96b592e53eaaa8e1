import { BaseClock } from "../base-clock.ts";
import type { Timer, TimerOptions } from "../clock.ts";
import { requireDelay, requireFunction, requireOptions } from "../internal/arguments.ts";
import { type CallbackContext, currentContext } from "./platform.ts";

/**
 * A clock whose callbacks keep the context of whoever armed them. What wakes the timers would run
 * them in the context of the last reset, or of whoever drives it.
 */
export abstract class ContextClock extends BaseClock {
  override afterFunc(delay: number, fire: () => void, options: TimerOptions = {}): Timer {
    const duration = requireDelay("delay", delay);
    requireFunction("fire", fire);
    requireOptions("options", options);
    return this.armIn(currentContext(), duration, fire, options);
  }

  /**
   * As {@link BaseClock.arm}, for a callback that needs its context.
   *
   * @internal
   */
  protected armIn(
    context: CallbackContext,
    delay: number,
    fire: () => void,
    options: TimerOptions,
  ): Timer {
    return this.arm(delay, () => context.runInAsyncScope(fire), options);
  }

  /**
   * As {@link BaseClock.arm}. Here it has to be written: `afterFunc` ends in it.
   *
   * @param delay - milliseconds, at least 0, possibly `Infinity`
   * @param fire - what to call
   * @param options - see {@link TimerOptions}
   * @returns the timer, armed
   */
  protected abstract override arm(delay: number, fire: () => void, options: TimerOptions): Timer;
}
