import { onAbort } from "@holdfast/clock";
import { deferred, isStop } from "@holdfast/kit";
import { Backoff, type DelayFunc } from "@holdfast/wait";
import { report } from "../task.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";

/** The delays after the store has failed, in milliseconds. */
const STORE_AGAIN = { duration: 200, factor: 2, cap: 5_000, jitter: 0.2 };

/** A request to the store that is made again and again. */
export interface RecurringRequest {
  send(signal: AbortSignal): Promise<void>;
  /** Whether each is followed by a rest as long as it took: one that takes long must not become all that the database does. */
  readonly rests?: boolean;
  /** The next one, if another instant than the one given to {@link Recurring.by}: a monotonic instant. It is sent in the same turn. */
  next?(asked: number): number;
}

/**
 * A request to the store that recurs: at the instants that it is given, one at a time. After an error, which is
 * reported, it is made again after a delay that grows.
 */
export class Recurring {
  readonly #options: ResolvedRelayOptions;
  readonly #request: RecurringRequest;
  #at = Number.POSITIVE_INFINITY;
  #last: Promise<void> = Promise.resolve();
  /** Ends the wait for the next one. */
  #wake: (() => void) | undefined;

  constructor(options: ResolvedRelayOptions, request: RecurringRequest) {
    this.#options = options;
    this.#request = request;
  }

  /** The next one, as it was asked for: a monotonic instant; `Infinity` if it was not since the last one began. */
  get at(): number {
    return this.#at;
  }

  /** The last one, which may be under way, or have failed. */
  get last(): Promise<void> {
    return this.#last;
  }

  /** Makes it at a monotonic instant, if not before. */
  by(instant: number): void {
    if (instant >= this.#at) return;
    this.#at = instant;
    this.#wake?.();
  }

  /** The answer of `next` may have changed. */
  look(): void {
    this.#wake?.();
  }

  /** Repeats it until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const request = this.#request;
    using timer = clock.afterFunc(Number.POSITIVE_INFINITY, () => this.look(), { label: "due" });
    using _abort = onAbort(signal, () => this.look());
    /** The end of the rest, or of the delay after an error. */
    let notBefore = Number.NEGATIVE_INFINITY;
    let delays: DelayFunc | undefined;
    while (!signal.aborted) {
      const began = clock.monotonic();
      const left = Math.max(request.next?.(this.#at) ?? this.#at, notBefore) - began;
      if (left > 0) {
        // A wait of less than the clock can measure would be none at all.
        timer.reset(Math.ceil(left));
        const { promise, resolve } = deferred<void>();
        this.#wake = resolve;
        await promise;
        continue;
      }
      this.#at = Number.POSITIVE_INFINITY; // From now on `by` may lower it.
      let delay = 0;
      try {
        this.#last = request.send(signal);
        await this.#last;
        delays = undefined;
      } catch (error) {
        if (isStop(error, signal)) return;
        report({ type: "error", error }, this.#options);
        delays ??= new Backoff({ ...STORE_AGAIN, random }).delayFunc();
        delay = delays();
        this.by(began);
      }
      const now = clock.monotonic();
      notBefore = now + Math.max(request.rests === true ? now - began : 0, delay);
    }
  }
}
