import { AbortList } from "./abort-list.ts";
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
  start(delay: number, signal: AbortSignal | undefined): void {
    this.#alarm.add(this, delay);
    if (signal !== undefined) AbortList.of(signal).add(this);
  }

  onDue(): void {
    this.wake();
  }

  protected override cancel(): void {
    this.#alarm.remove(this);
  }
}
