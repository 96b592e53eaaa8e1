import { currentContext, requireFinite, simulatedTime } from "@holdfast/kit";
import { BaseClock, requireCallback } from "../base-clock.ts";
import { bindMethods } from "../bind-methods.ts";
import type { Timer, TimerOptions } from "../clock.ts";
import type {
  ClockRunOptions,
  ClockStepOptions,
  PendingTimer,
  TestClock,
  WaitForWaitersOptions,
} from "./test-clock.ts";
import { type StallLimits, TimeControl } from "./time-control.ts";
import type { VirtualTime } from "./virtual-time.ts";
import { WaiterWatch } from "./waiter-watch.ts";

/** The defaults, in real milliseconds. */
export const STALL_LIMITS: StallLimits = { stallMs: 1_000, externalMs: 30_000 };

/** The methods of every test clock, beside those of every clock. */
const METHODS = [
  "setSystemTime",
  "run",
  "step",
  "stepSync",
  "setTime",
  "waiters",
  "hasWaiters",
  "waitForWaiters",
  "pending",
  "hold",
  "external",
] as const satisfies readonly (keyof TestClock)[];

function requireDuration(duration: number): number {
  if (requireFinite("duration", duration) >= 0) return duration;
  throw new RangeError(`duration must be at least 0: time does not go back, got ${duration}`);
}

/** A {@link TestClock} on any {@link VirtualTime}. Callbacks keep the async context of the `afterFunc` call. */
export class BaseTestClock extends BaseClock implements TestClock {
  readonly #time: VirtualTime;
  readonly #control: TimeControl;
  readonly #watch: WaiterWatch;

  /** @internal */
  constructor(time: VirtualTime, limits: StallLimits) {
    super();
    bindMethods(this, METHODS);
    Object.defineProperty(this, simulatedTime, { value: true });
    this.#time = time;
    this.#control = new TimeControl(time, limits);
    this.#watch = new WaiterWatch(time);
    time.onArm = () => {
      this.#control.wake();
      this.#watch.check();
    };
  }

  override now(): number {
    return this.#time.now();
  }

  override monotonic(): number {
    return this.#time.monotonic();
  }

  override afterFunc(delay: number, fire: () => void, options: TimerOptions = {}): Timer {
    const duration = requireCallback(delay, fire, options);
    return this.#time.arm(duration, fire, options, currentContext());
  }

  protected override arm(delay: number, fire: () => void, options: TimerOptions): Timer {
    return this.#time.arm(delay, fire, options);
  }

  setSystemTime(instant: number): void {
    this.#time.setSystemTime(requireFinite("instant", instant));
  }

  run<Value>(
    fn: (clock: this) => Value | PromiseLike<Value>,
    options: ClockRunOptions = {},
  ): Promise<Value> {
    return this.#control.run(fn, this, options);
  }

  async step(duration: number, options: ClockStepOptions = {}): Promise<void> {
    const end = this.#time.after(requireDuration(duration));
    await this.#control.step(end, options);
  }

  stepSync(duration: number): void {
    this.#control.stepSync(this.#time.after(requireDuration(duration)));
  }

  async setTime(instant: number, options: ClockStepOptions = {}): Promise<void> {
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
    return this.#control.hold(label);
  }

  external<Value>(work: PromiseLike<Value>, label = "external"): Promise<Value> {
    return this.#control.external(work, label);
  }

  /** Stops every timer. */
  [Symbol.dispose](): void {
    this.#time.stopAll();
  }
}
