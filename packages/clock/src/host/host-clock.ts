import { currentContext } from "@holdfast/kit";
import { BaseClock, requireCallback } from "../base-clock.ts";
import type { Timer, TimerOptions } from "../clock.ts";
import { HostTimer, type TimerHost } from "./host-timer.ts";

/** The time of a platform or a library, with its timers. */
export interface ClockHost extends TimerHost {
  now(): number;
}

/**
 * A clock on the timers of a {@link ClockHost}. Callbacks keep the async context of the `afterFunc` call, where the host
 * would run them in that of the last reset.
 */
export class HostClock extends BaseClock {
  readonly #host: ClockHost;

  constructor(host: ClockHost) {
    super();
    this.#host = host;
  }

  override now(): number {
    return this.#host.now();
  }

  override monotonic(): number {
    return this.#host.monotonic();
  }

  override afterFunc(delay: number, fire: () => void, options: TimerOptions = {}): Timer {
    const duration = requireCallback(delay, fire, options);
    const context = currentContext();
    return this.arm(duration, () => context.runInAsyncScope(fire), options);
  }

  protected override arm(delay: number, fire: () => void, options: TimerOptions): Timer {
    const timer = new HostTimer(this.#host, fire, options.ref ?? true);
    timer.reset(delay);
    return timer;
  }
}
