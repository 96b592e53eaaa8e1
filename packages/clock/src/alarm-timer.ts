import type { Alarm, Sleeper } from "./alarm.ts";
import { BaseTimer } from "./base-timer.ts";

/** Knows which alarm to set at the moment. */
export interface AlarmSource {
  alarm(ref: boolean): Alarm;
}

/** A timer without a callback of users, so that an {@link Alarm} can wake it. */
export class AlarmTimer extends BaseTimer implements Sleeper {
  heapSlot = -1;
  readonly #source: AlarmSource;
  readonly #fire: () => void;
  readonly #ref: boolean;
  #alarm!: Alarm;
  #deadline = 0;

  /**
   * The timer is armed by {@link AlarmTimer.reset}.
   *
   * @param fire - settles a promise, or does nothing
   */
  constructor(source: AlarmSource, fire: () => void, ref: boolean) {
    super();
    this.#source = source;
    this.#fire = fire;
    this.#ref = ref;
  }

  override get deadline(): number {
    return this.#deadline;
  }

  onDue(): void {
    this.expire();
    this.#fire();
  }

  protected override arm(delay: number): void {
    this.#alarm = this.#source.alarm(this.#ref);
    const now = this.#alarm.monotonic();
    this.#deadline = now + delay;
    this.#alarm.add(this, now, this.#deadline);
  }

  protected override disarm(): void {
    this.#alarm.remove(this);
  }
}
