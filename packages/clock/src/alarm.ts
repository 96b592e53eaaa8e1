import { type HeapEntry, TimerHeap } from "./timer-heap.ts";
import { MOST_CORRECTIONS, type TimerHost } from "./timer-host.ts";

/** What an {@link Alarm} wakes. */
export interface Sleeper extends HeapEntry {
  /** Called once, when it is due and has left. Must run no code of users before it returns. */
  onDue(): void;
}

/**
 * One timer of a host for all that only settles a promise: a timer each, with the functions that go
 * with it, would be half of what a sleep occupies.
 *
 * Those due at one wake-up settle together, in the order of their deadlines, and of their coming
 * where these are equal. The host's timer is there exactly while somebody sleeps. If the first one
 * leaves, it stays as it is: to wake up once for nothing is cheaper than to be set anew each time.
 */
export class Alarm {
  readonly #host: TimerHost;
  readonly #ref: boolean;
  readonly #sleepers = new TimerHeap<Sleeper>();
  readonly #wake = this.#onWake.bind(this);
  #order = 0;
  #handle: unknown = undefined;
  /** Until when the host's timer is to take. */
  #until = 0;
  #corrections = 0;

  /** @param ref - whether a sleeper keeps the process alive */
  constructor(host: TimerHost, ref: boolean) {
    this.#host = host;
    this.#ref = ref;
  }

  monotonic(): number {
    return this.#host.monotonic();
  }

  /** @param deadline - milliseconds, compared with {@link Alarm.monotonic} */
  add(sleeper: Sleeper, now: number, deadline: number): void {
    this.#sleepers.push(sleeper, deadline, this.#order++);
    if (this.#handle === undefined) this.#book(now);
    else if (deadline < this.#until) {
      this.#host.clear(this.#handle);
      this.#book(now);
    }
  }

  /** Takes one out that is in. */
  remove(sleeper: Sleeper): void {
    this.#sleepers.remove(sleeper);
    if (this.#sleepers.size > 0) return;
    this.#host.clear(this.#handle);
    this.#handle = undefined;
  }

  #book(now: number): void {
    const { deadline } = this.#sleepers;
    const { longest } = this.#host;
    const delay = Math.min(Math.max(deadline - now, 0), longest);
    // Not the sum of both where the deadline is meant: that may be less by a rounding error.
    this.#until = delay < longest ? deadline : now + longest;
    this.#corrections = 0;
    this.#set(delay);
  }

  #set(delay: number): void {
    this.#handle = this.#host.set(this.#wake, delay, this.#ref);
  }

  #onWake(): void {
    const now = this.#host.monotonic();
    const early = this.#until - now;
    if (early > 0 && early <= 1 && this.#corrections < MOST_CORRECTIONS) {
      this.#corrections++;
      this.#set(1);
    } else this.#ring(Math.max(now, this.#until));
  }

  #ring(now: number): void {
    const sleepers = this.#sleepers;
    this.#handle = undefined;
    while (sleepers.deadline <= now) sleepers.pop().onDue();
    if (sleepers.size > 0) this.#book(now);
  }
}
