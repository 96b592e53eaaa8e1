import { type Clock, onAbort } from "@holdfast/clock";
import { deferred } from "@holdfast/kit";
import { Backoff, type DelayFunc, loop } from "@holdfast/wait";
import { report } from "../task.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";

/** The delays after the store has failed, in milliseconds. */
const STORE_AGAIN = { duration: 200, factor: 2, cap: 5_000, jitter: 0.2 };

/** Options for {@link repeat}. */
export interface Repeated {
  readonly run: () => Promise<void>;
  /** The minimum delay before the next run, in milliseconds. */
  readonly rest: () => number;
  readonly signal: AbortSignal;
}

/** Repeats requests to the store until the signal aborts. Reports an error, and delays the next run after it. */
export async function repeat(
  { run, rest, signal }: Repeated,
  options: ResolvedRelayOptions,
): Promise<void> {
  const { clock, random } = options;
  let backoff: DelayFunc | undefined;
  const turn = async (): Promise<void> => {
    await run();
    backoff = undefined;
  };
  const onError = (error: unknown): void => {
    backoff ??= new Backoff({ ...STORE_AGAIN, random }).delayFunc();
    report({ type: "error", error }, options);
  };
  const delay = (): number => Math.max(rest(), backoff?.() ?? 0);
  await loop({ run: turn, delay, signal, clock, onError });
}

/**
 * A look into the store that recurs beside the claims. One is under way at a time, and each is followed by a rest that
 * lasts at least as long as the look: one that takes long must not become all that the database does.
 */
export class Look {
  readonly #options: ResolvedRelayOptions;
  readonly #sleep: InterruptibleSleep;
  /** The next look: a monotonic instant. */
  #at = Number.POSITIVE_INFINITY;

  constructor(options: ResolvedRelayOptions) {
    this.#options = options;
    this.#sleep = new InterruptibleSleep(options.clock);
  }

  /** Looks at a monotonic instant, if not before. */
  lookAt(instant: number): void {
    this.#at = Math.min(this.#at, instant);
    this.#sleep.interrupt();
  }

  /** Looks until the signal aborts; once more after an error. */
  async run(look: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let took = 0;
    const turn = async (): Promise<void> => {
      took = 0;
      await this.#sleep.until(() => this.#at, signal);
      if (signal.aborted) return;
      const began = clock.monotonic();
      this.#at = Number.POSITIVE_INFINITY;
      try {
        await look(signal);
      } catch (error) {
        this.#at = began;
        throw error;
      } finally {
        took = clock.monotonic() - began;
      }
    };
    await repeat({ run: turn, rest: () => took, signal }, this.#options);
  }
}

/** A sleep that can be cut short. One at a time. */
export class InterruptibleSleep {
  readonly #clock: Clock;
  #wake: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the sleep, if there is one. */
  interrupt(): void {
    this.#wake();
  }

  /**
   * Sleeps until a monotonic instant, which is read again after each interruption.
   *
   * @param signal - ends the sleep too
   * @returns a promise that always resolves
   */
  async until(instant: () => number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const left = instant() - this.#clock.monotonic();
      if (signal.aborted || left <= 0) return;
      // A sleep of less than the clock can measure would be none at all.
      await this.#once(Math.ceil(left), signal);
    }
  }

  async #once(duration: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = deferred<void>();
    this.#wake = resolve;
    using _timer = this.#clock.afterFunc(duration, resolve, { label: "due" });
    using _abort = onAbort(signal, () => resolve());
    await promise;
  }
}
