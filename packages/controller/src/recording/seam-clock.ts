import { BaseClock, BaseTimer, type Clock, type Timer, type TimerOptions } from "@holdfast/clock";
import { instantAfter, type LoopClock, machineLoop, requireFunction } from "@holdfast/kit";

/** The time of a recorded program, and the timers that wait on it. */
export interface SeamTime {
  /** The clock of code that is not recorded. Undefined in a replay: there is none. */
  readonly machine: Clock | undefined;
  /** Whether the code that runs is that of the program. */
  readonly isInside: boolean;
  /** Reads the monotonic clock. */
  read(): number;
  /** `now()` minus `monotonic()`. */
  readonly wall: number;
  /** A timer waits, `delay` from now. */
  arm(timer: SeamTimer, delay: number): void;
  /** A timer waits no longer. */
  disarm(timer: SeamTimer): void;
}

/** The clock of a recorded program: its time is that of the latest input. */
export class SeamClock extends BaseClock {
  readonly #time: SeamTime;

  constructor(time: SeamTime) {
    super();
    this.#time = time;
    const own = time.machine as LoopClock | undefined;
    const loop: NonNullable<LoopClock[typeof machineLoop]> = {
      // A turn of the event loop is a timer here: it has its place in the order of the inputs.
      afterTurn: (callback) => void this.afterFunc(0, callback, { label: "turn" }),
      keepAlive: () => own?.[machineLoop]?.keepAlive() ?? { [Symbol.dispose]: () => {} },
      measuresTimers: true,
    };
    Object.defineProperty(this, machineLoop, { value: loop });
  }

  override now(): number {
    return this.monotonic() + this.#time.wall;
  }

  override monotonic(): number {
    return this.#time.read();
  }

  override afterFunc(delay: number, fire: () => void, options: TimerOptions = {}): Timer {
    const { machine, isInside } = this.#time;
    if (!isInside && machine !== undefined) return machine.afterFunc(delay, fire, options);
    requireFunction("fire", fire);
    const timer = new ProgramTimer(this.#time, fire, options);
    timer.reset(delay);
    return timer;
  }
}

/** A timer of a recorded program, as its seam has it. */
export interface SeamTimer {
  /** The monotonic instant at which it fires, in milliseconds. */
  readonly deadline: number;
  /** What the program said of it. */
  readonly options: TimerOptions;
  /** The timer of the machine that makes it fire. A replay has none. */
  alarm: Timer | undefined;
  /** It fires. */
  ring(): void;
}

class ProgramTimer extends BaseTimer implements SeamTimer {
  readonly options: TimerOptions;
  alarm: Timer | undefined;
  readonly #time: SeamTime;
  readonly #fire: () => void;
  #deadline = 0;

  constructor(time: SeamTime, fire: () => void, options: TimerOptions) {
    super();
    this.#time = time;
    this.#fire = fire;
    this.options = options;
  }

  override get deadline(): number {
    return this.#deadline;
  }

  ring(): void {
    this.expire();
    this.#fire();
  }

  protected override arm(delay: number): void {
    this.#deadline = instantAfter(this.#time.read(), delay);
    this.#time.arm(this, delay);
  }

  protected override disarm(): void {
    this.#time.disarm(this);
  }
}
