import { AsyncResource } from "node:async_hooks";
import { requireDelay, requireFunction, requireOptions } from "./arguments.ts";
import { BaseClock } from "./base-clock.ts";
import type { Timer, TimerOptions } from "./clock.ts";

/**
 * A clock whose callbacks keep the context of whoever armed them. What wakes the timers would run
 * them in the context of the last reset, or of whoever drives it.
 */
export abstract class ContextClock extends BaseClock {
  override afterFunc(delay: number, fire: () => void, options: TimerOptions = {}): Timer {
    const duration = requireDelay("delay", delay);
    requireFunction("fire", fire);
    requireOptions("options", options);
    return this.armIn(new AsyncResource("HoldfastTimer"), duration, fire, options);
  }

  /** As {@link BaseClock.arm}, for a callback that needs its context. */
  protected armIn(
    context: AsyncResource,
    delay: number,
    fire: () => void,
    options: TimerOptions,
  ): Timer {
    return this.arm(delay, () => context.runInAsyncScope(fire), options);
  }

  protected abstract override arm(delay: number, fire: () => void, options: TimerOptions): Timer;
}
