import type { PassiveClock, Timer } from "@holdfast/clock";
import type { BackoffManager } from "../loop/backoff-manager.ts";
import { loop } from "../loop/loop.ts";

type Tick = IteratorResult<number, undefined>;

const END: Tick = { done: true, value: undefined };

/** A pending call of `next()`. */
interface Waiter {
  readonly resolve: (tick: Tick) => void;
  readonly reject: (error: unknown) => void;
}

/** Options for {@link Ticks}, with the meaning they have in a {@link Loop}. */
export interface TicksOptions {
  readonly clock: PassiveClock;
  readonly manager: BackoffManager;
  readonly immediate: boolean;
  readonly sliding: boolean;
  readonly signal: AbortSignal;
}

/** Ticks for `for await`: the instants of a clock's `monotonic()`, in milliseconds. */
export interface TickIterator extends AsyncIterator<number, undefined> {
  /** The iterator itself. */
  [Symbol.asyncIterator](): this;
}

/** A loop as an iterator: each run lasts from a tick to the next call of `next()`. */
export class Ticks implements TickIterator {
  readonly #options: TicksOptions;
  #state: "new" | "ticking" | "ended" = "new";
  readonly #waiters: Waiter[] = [];
  #timer: Timer | undefined = undefined;
  /** Ends the current run. */
  #resume: (() => void) | undefined = undefined;

  constructor(options: TicksOptions) {
    this.#options = options;
  }

  next(): Promise<Tick> {
    if (this.#state === "ended") return Promise.resolve(END);
    const tick = new Promise<Tick>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    if (this.#state === "new") this.#start();
    else this.#resume?.();
    return tick;
  }

  return(): Promise<Tick> {
    this.#end();
    this.#timer?.stop();
    this.#resume?.();
    return Promise.resolve(END);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #start(): void {
    this.#state = "ticking";
    const { manager, immediate, sliding, signal } = this.#options;
    const end = loop({
      run: () => this.#tick(),
      isDone: () => this.#state === "ended",
      manager: { backoff: () => (this.#timer = manager.backoff()) },
      immediate,
      sliding,
      signal,
    });
    void end.then(
      () => this.#end(),
      (error: unknown) => {
        this.#waiters.shift()?.reject(error);
        this.#end();
      },
    );
  }

  #tick(): Promise<void> | undefined {
    if (this.#state === "ended") return undefined;
    const value = this.#options.clock.monotonic();
    this.#waiters.shift()?.resolve({ done: false, value });
    if (this.#waiters.length > 0) return undefined;
    return new Promise((resume) => {
      this.#resume = resume;
    });
  }

  #end(): void {
    this.#state = "ended";
    for (const { resolve } of this.#waiters.splice(0)) resolve(END);
  }
}
