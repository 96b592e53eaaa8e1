import { BaseClock, BaseTimer, type Clock, type Timer, type TimerOptions } from "@holdfast/clock";
import { simulatedTime } from "@holdfast/kit";

/** A timer of a replica that waits to fire. */
export interface WaitingTimer {
  readonly label: string | undefined;
  readonly deadline: number;
}

/** The clock of a replica: time goes on after its crash, and its timers do not. */
export class ReplicaClock extends BaseClock {
  readonly #clock: Clock;

  /** Those that wait to fire, and no others. */
  readonly #timers = new Set<ReplicaTimer>();
  #hasCrashed = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
    Object.defineProperty(this, simulatedTime, { value: true });
  }

  override now(): number {
    return this.#clock.now();
  }

  override monotonic(): number {
    return this.#clock.monotonic();
  }

  override afterFunc(delay: number, fire: () => void, options: TimerOptions = {}): Timer {
    const timer = new ReplicaTimer({
      waiting: this.#timers,
      label: options.label,
      start: (ring) => this.#clock.afterFunc(Number.POSITIVE_INFINITY, ring, options),
      waitOf: (wanted) => this.#waitOf(wanted),
      fire,
    });
    timer.reset(delay);
    return timer;
  }

  /** The timers that wait to fire. */
  pending(): WaitingTimer[] {
    return [...this.#timers].map(({ label, deadline }) => ({ label, deadline }));
  }

  /** Stops all timers. No callback is called any more. */
  crash(): void {
    this.#hasCrashed = true;
    for (const timer of [...this.#timers]) timer.stop();
  }

  /** Time goes on, and no timer fires: those that are due meanwhile fire at the end, in their order. */
  pause(duration: number): void {
    this.#pausedUntil = this.monotonic() + duration;
    const due = [...this.#timers].filter(({ deadline }) => deadline < this.#pausedUntil);
    for (const timer of due.toSorted((one, other) => one.deadline - other.deadline))
      timer.reset(duration);
  }

  #waitOf(delay: number): number | undefined {
    if (this.#hasCrashed) return undefined;
    return Math.max(delay, this.#pausedUntil - this.monotonic());
  }
}

interface ReplicaTimerOptions {
  /** Has the timer while it waits to fire. */
  readonly waiting: Set<ReplicaTimer>;
  readonly label: string | undefined;
  /** Makes the timer of the world, which is armed after. */
  readonly start: (ring: () => void) => Timer;
  /** The delay by which a timer is armed. Undefined: not at all. */
  readonly waitOf: (delay: number) => number | undefined;
  readonly fire: () => void;
}

class ReplicaTimer extends BaseTimer {
  readonly label: string | undefined;
  readonly #options: ReplicaTimerOptions;
  readonly #timer: Timer;

  constructor(options: ReplicaTimerOptions) {
    super();
    this.label = options.label;
    this.#options = options;
    this.#timer = options.start(() => this.#ring());
    this.#timer.stop();
  }

  override get deadline(): number {
    return this.#timer.deadline;
  }

  protected override arm(delay: number): void {
    const { waiting, waitOf } = this.#options;
    const wait = waitOf(delay);
    if (wait === undefined) return;
    waiting.add(this);
    this.#timer.reset(wait);
  }

  protected override disarm(): void {
    this.#options.waiting.delete(this);
    this.#timer.stop();
  }

  #ring(): void {
    this.#options.waiting.delete(this);
    this.expire();
    this.#options.fire();
  }
}
