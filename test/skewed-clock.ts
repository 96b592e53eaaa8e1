import { BaseClock, BaseTimer, type Clock, type Timer, type TimerOptions } from "@holdfast/clock";

/** How the clock of a simulated process differs from real time. */
interface Skew {
  /** How fast it runs, 1 being right. */
  readonly rate: number;
  /** How far its wall clock is off, in milliseconds. */
  readonly offset: number;
}

/**
 * The clock of a simulated process that can be paused, on real time that another clock simulates.
 * Paused, the process gets nothing, neither timers nor replies; its clock goes on.
 */
export class SkewedClock extends BaseClock {
  readonly #real: Clock;
  readonly #skew: Skew;
  #mail: (() => void)[] | undefined;
  #isDead = false;
  /** How many timers are armed. */
  armed = 0;

  constructor(real: Clock, skew: Skew) {
    super();
    this.#real = real;
    this.#skew = skew;
  }

  get isPaused(): boolean {
    return this.#mail !== undefined;
  }

  override now(): number {
    return this.#real.now() * this.#skew.rate + this.#skew.offset;
  }

  override monotonic(): number {
    return this.#real.monotonic() * this.#skew.rate;
  }

  override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
    return new SkewedTimer(this, { delay, fire, options });
  }

  /** Calls back when so much time has passed here, and the process is not paused. */
  book(delay: number, wake: () => void, options?: TimerOptions): Timer {
    return this.#real.afterFunc(delay / this.#skew.rate, () => this.deliver(wake), options);
  }

  /** Calls at once, or when the process goes on. */
  deliver(call: () => void): void {
    if (this.#mail === undefined) call();
    else this.#mail.push(call);
  }

  pause(): void {
    this.#mail ??= [];
  }

  /** Pauses forever. */
  die(): void {
    this.pause();
    this.#isDead = true;
  }

  /** Delivers what came meanwhile, in the order in which `shuffle` puts it. */
  resume(shuffle: <Item>(items: Item[]) => Item[]): void {
    if (this.#isDead) return;
    const mail = this.#mail ?? [];
    this.#mail = undefined;
    for (const call of shuffle(mail)) call();
  }
}

interface Booking {
  readonly delay: number;
  readonly fire: () => void;
  readonly options: TimerOptions | undefined;
}

class SkewedTimer extends BaseTimer {
  deadline = 0;
  readonly #clock: SkewedClock;
  readonly #booking: Booking;
  #wakeUp: Timer | undefined;

  constructor(clock: SkewedClock, booking: Booking) {
    super();
    this.#clock = clock;
    this.#booking = booking;
    this.reset(booking.delay);
  }

  protected override arm(delay: number): void {
    this.deadline = this.#clock.monotonic() + delay;
    const wakeUp = this.#clock.book(
      delay,
      () => {
        if (this.#wakeUp !== wakeUp) return;
        this.#clock.armed--;
        this.expire();
        this.#booking.fire();
      },
      this.#booking.options,
    );
    this.#wakeUp = wakeUp;
    this.#clock.armed++;
  }

  protected override disarm(): void {
    this.#wakeUp?.stop();
    this.#clock.armed--;
    this.#wakeUp = undefined;
  }
}
