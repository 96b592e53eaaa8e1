import type { Timer, TimerOptions } from "../clock.ts";
import { ContextClock } from "./context-clock.ts";
import { HostTimer, type TimerHost } from "./host-timer.ts";

/** A clock on the timers of a {@link TimerHost}. */
export abstract class HostClock extends ContextClock {
  readonly #host: TimerHost;

  constructor(host: TimerHost) {
    super();
    this.#host = host;
  }

  override monotonic(): number {
    return this.#host.monotonic();
  }

  protected override arm(delay: number, fire: () => void, options: TimerOptions): Timer {
    const timer = new HostTimer(this.#host, fire, options.ref ?? true);
    timer.reset(delay);
    return timer;
  }
}
