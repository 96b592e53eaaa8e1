import { HostTimer, type TimerHost } from "./host-timer.ts";
import { type HeapEntry, TimerHeap } from "./timer-heap.ts";

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
  readonly #timer: HostTimer;
  readonly #sleepers = new TimerHeap<Sleeper>();
  #order = 0;
  /** What the timer is set for. */
  #until = 0;

  /** @param ref - whether a sleeper keeps the process alive */
  constructor(host: TimerHost, ref: boolean) {
    this.#host = host;
    this.#timer = new HostTimer(host, () => this.#ring(), ref);
  }

  /** @param delay - milliseconds */
  add(sleeper: Sleeper, delay: number): void {
    const now = this.#host.monotonic();
    const deadline = now + delay;
    this.#sleepers.push(sleeper, deadline, this.#order++);
    if (!this.#timer.active || deadline < this.#until) this.#set(now);
  }

  /** Takes one out that is in. */
  remove(sleeper: Sleeper): void {
    this.#sleepers.remove(sleeper);
    if (this.#sleepers.size === 0) this.#timer.stop();
  }

  #set(now: number): void {
    this.#until = this.#sleepers.deadline;
    this.#timer.reset(Math.max(this.#until - now, 0));
  }

  #ring(): void {
    // What the timer was set for is due, even where the host's time says that it is not.
    const now = Math.max(this.#host.monotonic(), this.#until);
    while (this.#sleepers.deadline <= now) this.#sleepers.pop().onDue();
    if (this.#sleepers.size > 0) this.#set(now);
  }
}
