import { AsyncResource } from "node:async_hooks";
import { requireDelay, requireFunction, requireOptions } from "./arguments.ts";
import { BaseClock } from "./base-clock.ts";
import type { Timer, TimerOptions } from "./clock.ts";
import { HostTimer, type TimerHost } from "./host-timer.ts";

/** A clock whose timers are somebody else's. */
export abstract class HostClock extends BaseClock {
  readonly #host: TimerHost;

  constructor(host: TimerHost) {
    super();
    this.#host = host;
  }

  override monotonic(): number {
    return this.#host.monotonic();
  }

  override afterFunc(delay: number, fire: () => void, options: TimerOptions = {}): Timer {
    const duration = requireDelay("delay", delay);
    requireFunction("fire", fire);
    requireOptions("options", options);
    // A host would run `fire` in the context of the last reset, or of whoever drives it.
    const context = new AsyncResource("HoldfastTimer");
    return this.arm(duration, () => context.runInAsyncScope(fire), options);
  }

  protected override arm(delay: number, fire: () => void, options: TimerOptions): Timer {
    const timer = new HostTimer(this.#host, fire, options.ref ?? true);
    timer.reset(delay);
    return timer;
  }
}
