import type { Alarm, Sleeper } from "./alarm.ts";
import { Sleep } from "./sleep.ts";

/** A sleep that an {@link Alarm} ends. */
export class AlarmSleep extends Sleep implements Sleeper {
  heapSlot = -1;
  readonly #alarm: Alarm;

  constructor(alarm: Alarm, resolve: () => void, reject: (reason: unknown) => void) {
    super(resolve, reject);
    this.#alarm = alarm;
  }

  /** @param delay - milliseconds */
  start(delay: number): this {
    const now = this.#alarm.monotonic();
    this.#alarm.add(this, now, now + delay);
    return this;
  }

  onDue(): void {
    this.wake();
  }

  protected override cancel(): void {
    this.#alarm.remove(this);
  }
}
