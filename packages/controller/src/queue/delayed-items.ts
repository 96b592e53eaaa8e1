import type { Clock, Timer } from "@holdfast/clock";
import { type HeapEntry, instantAfter, TimerHeap } from "@holdfast/kit";

const NEVER = Number.POSITIVE_INFINITY;

/** A delay that ends at this very instant, but after a turn of the event loop. */
export const AFTER_A_TURN: number = Number.MIN_VALUE;

/** Delayed entries behind one timer of the clock. */
export class DelayedItems<Entry extends HeapEntry> extends TimerHeap<Entry> {
  readonly #clock: Clock;
  readonly #label: string;
  readonly #onDue: (now: number) => void;
  #timer: Timer | undefined = undefined;
  /** The deadline that the timer is armed for; `Infinity` while it is not. */
  #armedFor = NEVER;
  #isStopped = false;
  #sequence = 0;

  /** `onDue` is called when an entry is due, and pops every entry with a deadline of `now` or before; nothing else does. */
  constructor(clock: Clock, label: string, onDue: (now: number) => void) {
    super();
    this.#clock = clock;
    this.#label = label;
    this.#onDue = onDue;
  }

  add(entry: Entry, delay: number): void {
    this.#push(entry, this.#deadlineAfter(delay));
  }

  /** Moves an entry that is in to an earlier deadline; a later one changes nothing. */
  advance(entry: Entry, delay: number): void {
    const deadline = this.#deadlineAfter(delay);
    if (deadline >= this.deadlineOf(entry)) return;
    super.remove(entry);
    this.#push(entry, deadline);
  }

  /** Rounded, so that the order among equals does not depend on the last digits of a sum. */
  #deadlineAfter(delay: number): number {
    const now = this.#clock.monotonic();
    return delay === AFTER_A_TURN ? now : instantAfter(now, delay);
  }

  #push(entry: Entry, deadline: number): void {
    this.push(entry, deadline, this.#sequence++);
    // Nearly always false, and cheaper to ask here: V8 then inlines all that adding a key takes.
    if (deadline < this.#armedFor) this.#arm();
  }

  override remove(entry: Entry): void {
    super.remove(entry);
    this.#arm();
  }

  /** From now on nothing becomes due; the entries stay. */
  stop(): void {
    this.#isStopped = true;
    this.#arm();
  }

  /** Holds the timer to the earliest deadline. */
  #arm(): void {
    const deadline = this.#isStopped ? NEVER : this.deadline;
    if (deadline === this.#armedFor) return;
    this.#armedFor = deadline;
    if (deadline === NEVER) {
      this.#timer?.stop();
      return;
    }
    const delay = deadline - this.#clock.monotonic();
    if (this.#timer !== undefined) this.#timer.reset(delay);
    else this.#timer = this.#clock.afterFunc(delay, this.#onTimer, { label: this.#label });
  }

  readonly #onTimer = (): void => {
    // By the contract of the clock, the deadline of the timer is due now. Comparing with the clock alone
    // would miss it where that counts whole nanoseconds and a sum of doubles lies a hair above.
    const now = Math.max(this.#armedFor, this.#clock.monotonic());
    this.#armedFor = NEVER;
    this.#onDue(now);
    this.#arm();
  };
}
