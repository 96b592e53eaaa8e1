import { onAbort } from "@holdfast/clock";
import { deferred, isStop } from "@holdfast/kit";
import { Backoff, type DelayFunc } from "@holdfast/wait";
import { report } from "../task.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";

/** The delays after the store has failed, in milliseconds. */
const STORE_AGAIN = { duration: 200, factor: 2, cap: 5_000, jitter: 0.2 };

/** A request to the store that is made again and again. */
export interface RecurringRequest {
  readonly send: (signal: AbortSignal) => Promise<void>;
  /** Whether each is followed by a rest as long as it took: one that takes long must not become all that the database does. */
  readonly rests?: boolean;
  /** The next one, if another instant than the one given to {@link Recurring.by}: a monotonic instant. */
  readonly next?: (asked: number) => number;
}

/**
 * A request to the store that recurs: at the instants that it is given, one at a time. After an error, which is
 * reported, it is made again after a delay that grows.
 */
export class Recurring {
  readonly #options: ResolvedRelayOptions;
  readonly #request: RecurringRequest;
  #at = Number.POSITIVE_INFINITY;
  /** The end of the rest, or of the delay after an error. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #idle: Promise<void> = Promise.resolve();
  /** Ends the wait for the next one. */
  #wake: () => void = () => {};

  constructor(options: ResolvedRelayOptions, request: RecurringRequest) {
    this.#options = options;
    this.#request = request;
  }

  /** The next one, as it was asked for: a monotonic instant; `Infinity` if it was not since the last one began. */
  get at(): number {
    return this.#at;
  }

  /** Resolves when none is under way. */
  get idle(): Promise<void> {
    return this.#idle;
  }

  /** Makes it at a monotonic instant, if not before. Without one, only the answer of `next` may have changed. */
  by(instant: number = Number.POSITIVE_INFINITY): void {
    this.#at = Math.min(this.#at, instant);
    this.#wake();
  }

  /** Repeats it until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let delays: DelayFunc | undefined;
    while (await this.#isDue(signal)) {
      const began = clock.monotonic();
      const { promise, resolve } = deferred<void>();
      this.#idle = promise;
      this.#at = Number.POSITIVE_INFINITY; // From now on `by` may lower it.
      let delay = 0;
      try {
        await this.#request.send(signal);
        delays = undefined;
      } catch (error) {
        if (isStop(error, signal)) return;
        report({ type: "error", error }, this.#options);
        delays ??= new Backoff({ ...STORE_AGAIN, random }).delayFunc();
        delay = delays();
        this.by(began);
      } finally {
        resolve();
      }
      const now = clock.monotonic();
      const rest = this.#request.rests === true ? now - began : 0;
      this.#notBefore = now + Math.max(rest, delay);
    }
  }

  /** Waits for the next one; false after the abort. */
  async #isDue(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const { next } = this.#request;
    for (;;) {
      const at = next === undefined ? this.#at : next(this.#at);
      const left = Math.max(at, this.#notBefore) - clock.monotonic();
      if (signal.aborted || left <= 0) return !signal.aborted;
      const { promise, resolve } = deferred<void>();
      this.#wake = resolve;
      // A wait of less than the clock can measure would be none at all.
      using _timer = clock.afterFunc(Math.ceil(left), resolve, { label: "due" });
      using _abort = onAbort(signal, () => resolve());
      await promise;
    }
  }
}
