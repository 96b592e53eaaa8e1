import {
  type CallbackContext,
  currentContext,
  requireDelay,
  requireFunction,
  requireTimerOptions,
} from "@holdfast/kit";
import { BaseClock, TIMER_OPTIONS } from "../base-clock.ts";
import type { Timer, TimerOptions } from "../clock.ts";

/**
 * A clock whose callbacks keep the async context of the `afterFunc` call. A host would run them in the
 * context of the last reset, a fake host in the context of the test.
 */
export abstract class ContextClock extends BaseClock {
  override afterFunc(delay: number, fire: () => void, options: TimerOptions = {}): Timer {
    const duration = requireDelay("delay", delay);
    requireFunction("fire", fire);
    requireTimerOptions(options, "afterFunc", TIMER_OPTIONS);
    return this.armIn(currentContext(), duration, fire, options);
  }

  /**
   * Like {@link BaseClock.arm}, for a callback that needs its context.
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
   * Like {@link BaseClock.arm}; abstract here because `afterFunc` calls it.
   *
   * @param delay - milliseconds, at least 0, possibly `Infinity`
   * @param fire - the callback
   * @param options - see {@link TimerOptions}
   * @returns the timer, armed
   */
  protected abstract override arm(delay: number, fire: () => void, options: TimerOptions): Timer;
}
