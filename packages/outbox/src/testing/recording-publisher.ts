import { type Clock, realClock } from "@holdfast/clock";
import { finiteFrom, func, type Kinds, loopClock, read } from "@holdfast/kit";
import type { Message } from "../message/message.ts";
import { bodyOf } from "../publisher/message-body.ts";
import { Publications } from "../publisher/publications.ts";
import type { Publisher } from "../publisher/publisher.ts";

export const RECORDING_PUBLISHER_OPTIONS: Kinds<RecordingPublisherOptions> = {
  respond: func,
  delay: finiteFrom(0),
  clock: loopClock,
};

/** Options for {@link RecordingPublisher}. */
export interface RecordingPublisherOptions {
  /**
   * The receiver's response to an attempt: it confirms the message when it returns or its promise resolves, and fails
   * the attempt when it throws or rejects.
   *
   * @defaultValue confirms
   */
  readonly respond?: ((message: Message, signal: AbortSignal) => Promise<void> | void) | undefined;

  /**
   * How long each attempt takes before its response, in milliseconds. Finite, at least 0.
   *
   * @defaultValue `0`
   */
  readonly delay?: number | undefined;

  /**
   * Measures the delay and the instants of the record.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/** One attempt in the record of a {@link RecordingPublisher}. */
export interface RecordedAttempt {
  /** The message, as the relay handed it over. */
  readonly message: Message;

  /** The start of the attempt, in milliseconds since the publisher was made. */
  readonly at: number;
}

/**
 * A publisher for tests. It sends nothing, records each attempt, and responds as configured.
 *
 * | Event | `publish` |
 * | --- | --- |
 * | `respond` returns or resolves | resolves; the message is in `confirmed` |
 * | `respond` throws or rejects | rejects with that error |
 * | `signal` aborts | rejects at once with `signal.reason`, even if `respond` never settles |
 * | the payload is not JSON | rejects with a `TerminalError`; nothing is recorded |
 * | `signal` is already aborted | rejects with `signal.reason`; nothing is recorded |
 * | the publisher is disposed | rejects at once, as does every later call |
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { silentLogger } from "@holdfast/controller";
 * import { Relay } from "@holdfast/outbox";
 * import { MemoryStore, RecordingPublisher } from "@holdfast/outbox/testing";
 *
 * const clock = new FakeClock();
 * const store = new MemoryStore();
 * const publisher = new RecordingPublisher({
 *   clock,
 *   respond: ({ failedAttempts }) => {
 *     if (failedAttempts < 2) throw new Error("unreachable");
 *   },
 * });
 * const message = { topic: "orders.paid", key: "order/4711", payload: {} };
 * await store.transaction((tx) => store.save(tx, message, clock.now()));
 *
 * const stop = new AbortController();
 * const relay = new Relay({ name: "r", store, publisher, clock, jitter: 0, logger: silentLogger });
 * const running = relay.run(stop.signal);
 * await clock.step(120_000);
 * stop.abort();
 * await clock.run(() => running);
 * console.log(publisher.attempts.map(({ at }) => at)); // => [ 0, 10000, 30000 ]
 * console.log(publisher.confirmed.length); // => 1
 * ```
 */
export class RecordingPublisher implements Publisher, AsyncDisposable {
  /** All attempts, in the order of their starts. */
  readonly attempts: RecordedAttempt[] = [];

  /** The messages of confirmed attempts, in the order of their confirmations. */
  readonly confirmed: Message[] = [];
  readonly #respond: (message: Message, signal: AbortSignal) => Promise<void> | void;
  readonly #delay: number;
  readonly #clock: Clock;
  readonly #start: number;
  readonly #publications = new Publications();
  #inFlight = 0;
  #maxInFlight = 0;

  /** @throws RangeError or TypeError that names the option */
  constructor(options: RecordingPublisherOptions = {}) {
    const given = read("options", options, "RecordingPublisher", RECORDING_PUBLISHER_OPTIONS);
    const { respond = () => {}, delay = 0, clock = realClock } = given;
    this.#respond = respond;
    this.#delay = delay;
    this.#clock = clock;
    this.#start = clock.monotonic();
  }

  /** The number of attempts under way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The largest number of attempts that were under way at the same time. */
  get maxInFlight(): number {
    return this.#maxInFlight;
  }

  async publish(message: Message, signal: AbortSignal): Promise<void> {
    await this.#publications.run((own) => this.#attempt(message, own), signal);
  }

  /** Rejects attempts under way, and all later ones. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#publications.end();
  }

  async #attempt(message: Message, signal: AbortSignal): Promise<void> {
    bodyOf(message);
    this.attempts.push({ message, at: this.#clock.monotonic() - this.#start });
    this.#maxInFlight = Math.max(this.#maxInFlight, ++this.#inFlight);
    try {
      if (this.#delay > 0) await this.#clock.sleep(this.#delay, { signal });
      await this.#respond(message, signal);
      if (!signal.aborted) this.confirmed.push(message);
    } finally {
      this.#inFlight--;
    }
  }
}
