import type { PassiveClock } from "@holdfast/clock";
import { jitter, type Random } from "@holdfast/wait";

/** Opens for a topic whose receiver fails. Durations are in milliseconds. */
export interface BreakerOptions {
  /**
   * The number of calls of the publisher without a confirmation, one after another, that open it. Whole, at least 1. A
   * `TerminalError` does not count: it is about its message.
   *
   * @defaultValue `10`
   */
  readonly failures?: number | undefined;

  /**
   * How long it is open before one message is tried. Above 0, finite. The relay adds its `jitter`.
   *
   * @defaultValue `30_000`
   */
  readonly openFor?: number | undefined;
}

/** A topic of which a relay begins no attempt. */
export interface HeldTopic {
  /** Its name. */
  readonly topic: string;

  /** `paused`: by `pause`, for all relays. `open`: by the breaker of this relay, until a message is confirmed. */
  readonly reason: "paused" | "open";
}

/** Options for {@link TopicHolds}. */
export interface TopicHoldsOptions {
  readonly clock: PassiveClock;
  readonly breaker?: Required<{ readonly [Name in keyof BreakerOptions]: number }> | undefined;
  readonly jitter: number;
  readonly random?: Random | undefined;
}

/** The breaker of a topic; none while its last call was confirmed. */
interface Breaker {
  failures: number;
  /** A monotonic instant: open before it, and half open from then on. `-Infinity` while it is closed. */
  openUntil: number;
}

/**
 * The topics that are held.
 *
 * | State of a topic | Claims | Messages in flight |
 * | --- | --- | --- |
 * | paused, or open | none | none, but those that were before |
 * | half open | as any other | one: its confirmation closes the breaker, its failure opens it again |
 */
export class TopicHolds {
  readonly #options: TopicHoldsOptions;
  #paused: ReadonlySet<string> = new Set();
  readonly #breakers = new Map<string, Breaker>();

  constructor(options: TopicHoldsOptions) {
    this.#options = options;
  }

  /** The topics of which no message is claimed. */
  get topics(): readonly string[] {
    const topics = new Set([...this.#paused, ...this.#open().map(([topic]) => topic)]);
    return [...topics].filter((topic) => this.roomOf(topic) === 0);
  }

  /** The topics that are paused, and those that wait for a confirmation. */
  get held(): readonly HeldTopic[] {
    const paused = [...this.#paused].map((topic) => ({ topic, reason: "paused" }) as const);
    return [...paused, ...this.#open().map(([topic]) => ({ topic, reason: "open" }) as const)];
  }

  /** The earliest monotonic instant from now on at which an open one gets half open; `Infinity` if none is open. */
  get nextHalfOpen(): number {
    const now = this.#options.clock.monotonic();
    const instants = this.#open().map(([, { openUntil }]) => openUntil);
    return Math.min(...instants.filter((instant) => instant > now));
  }

  /** The number of messages of a topic that may be in flight. */
  roomOf(topic: string): number {
    if (this.#paused.has(topic)) return 0;
    const openUntil = this.#breakers.get(topic)?.openUntil ?? Number.NEGATIVE_INFINITY;
    if (openUntil === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
    return this.#options.clock.monotonic() < openUntil ? 0 : 1;
  }

  /** Sets the topics that are paused, and returns those that changed. */
  pause(topics: readonly string[]): {
    readonly paused: readonly string[];
    readonly resumed: readonly string[];
  } {
    const before = this.#paused;
    this.#paused = new Set(topics);
    return {
      paused: topics.filter((topic) => !before.has(topic)),
      resumed: [...before].filter((topic) => !this.#paused.has(topic)),
    };
  }

  /** A message was confirmed. Returns whether that closes the breaker: the result of an attempt from before does not. */
  confirmed(topic: string): boolean {
    const breaker = this.#breakers.get(topic);
    if (breaker === undefined || this.#isOpen(breaker)) return false;
    this.#breakers.delete(topic);
    return breaker.openUntil !== Number.NEGATIVE_INFINITY;
  }

  /** The receiver has failed. Returns for how long that opens the breaker, in milliseconds; undefined if it does not. */
  failed(topic: string): number | undefined {
    const { breaker: options, clock, jitter: share, random } = this.#options;
    if (options === undefined) return undefined;
    const breaker = this.#breakers.get(topic) ?? {
      failures: 0,
      openUntil: Number.NEGATIVE_INFINITY,
    };
    if (this.#isOpen(breaker)) return undefined;
    this.#breakers.set(topic, breaker);
    breaker.failures++;
    if (breaker.failures < options.failures) return undefined;
    const openFor = jitter(options.openFor, share, random);
    breaker.openUntil = clock.monotonic() + openFor;
    return openFor;
  }

  #isOpen({ openUntil }: Breaker): boolean {
    return this.#options.clock.monotonic() < openUntil;
  }

  /** Those that are open or half open. */
  #open(): readonly (readonly [string, Breaker])[] {
    return [...this.#breakers].filter(([, { openUntil }]) => openUntil > Number.NEGATIVE_INFINITY);
  }
}
