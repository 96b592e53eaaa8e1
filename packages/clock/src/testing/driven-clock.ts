import { ContextClock } from "../host/context-clock.ts";
import { requireFinite } from "../internal/arguments.ts";
import { type Driven, Driver } from "./driver.ts";
import type {
  DriveOptions,
  PendingTimer,
  RunOptions,
  TestClock,
  WaitForWaitersOptions,
} from "./test-clock.ts";
import { WaiterWatch } from "./waiter-watch.ts";

/** Time that a {@link DrivenClock} moves, and what is armed on it. */
export interface Timed extends Driven {
  /** To be called whenever a timer is armed; set by the clock. */
  onArm: () => void;
  /** How many timers are armed. */
  readonly size: number;
  /** The instant that lies `duration` from now. */
  after(duration: number): number;
  stopAll(): void;
}

function requireLength(duration: number): number {
  if (requireFinite("duration", duration) >= 0) return duration;
  throw new RangeError(`duration must be at least 0: time does not go back, got ${duration}`);
}

/** What is the same on every {@link TestClock}: all that moves time. */
export abstract class DrivenClock extends ContextClock implements TestClock {
  readonly #time: Timed;
  readonly #driver: Driver;
  readonly #watch: WaiterWatch;

  constructor(time: Timed) {
    super();
    this.#time = time;
    this.#driver = new Driver(time);
    this.#watch = new WaiterWatch(time);
    time.onArm = () => {
      this.#driver.wake();
      this.#watch.look();
    };
  }

  override monotonic(): number {
    return this.#time.monotonic();
  }

  abstract setSystemTime(instant: number): void;

  run<Value>(
    fn: (clock: this) => Value | PromiseLike<Value>,
    options: RunOptions = {},
  ): Promise<Value> {
    return this.#driver.run(fn, this, options);
  }

  async step(duration: number, options: DriveOptions = {}): Promise<void> {
    const end = this.#time.after(requireLength(duration));
    await this.#driver.step(end, options);
  }

  stepSync(duration: number): void {
    this.#driver.stepSync(this.#time.after(requireLength(duration)));
  }

  async setTime(instant: number, options: DriveOptions = {}): Promise<void> {
    const duration = requireFinite("instant", instant) - this.now();
    if (duration < 0)
      throw new RangeError(`instant must not be before now(), ${this.now()}, got ${instant}`);
    await this.step(duration, options);
  }

  waiters(): number {
    return this.#time.size;
  }

  hasWaiters(): boolean {
    return this.#time.size > 0;
  }

  waitForWaiters(count: number, options: WaitForWaitersOptions = {}): Promise<void> {
    return this.#watch.wait(count, options);
  }

  pending(): PendingTimer[] {
    return this.#time.pending();
  }

  hold(label = "hold"): Disposable {
    return this.#driver.hold(label);
  }

  external<Value>(work: PromiseLike<Value>, label = "external"): Promise<Value> {
    return this.#driver.external(work, label);
  }

  /** Stops every timer. */
  [Symbol.dispose](): void {
    this.#time.stopAll();
  }
}
