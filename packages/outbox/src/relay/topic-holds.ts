import type { PassiveClock } from "@holdfast/clock";
import { isTerminalError, jitter, type Random } from "@holdfast/wait";
import type { HoldChange } from "../task.ts";

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

  /** The topics that are paused, and those that wait for a confirmation. */
  get held(): readonly HeldTopic[] {
    const held: HeldTopic[] = [...this.#paused].map((topic) => ({ topic, reason: "paused" }));
    for (const [topic, { openUntil }] of this.#breakers)
      if (openUntil > Number.NEGATIVE_INFINITY) held.push({ topic, reason: "open" });
    return held;
  }

  /** The topics of which no message is claimed, and the monotonic instant at which one of them gets half open. */
  claimed(): { readonly except: readonly string[]; readonly until: number } {
    const except = new Set(this.#paused);
    let until = Number.POSITIVE_INFINITY;
    for (const [topic, { openUntil }] of this.#breakers)
      if (this.#options.clock.monotonic() < openUntil) {
        except.add(topic);
        until = Math.min(until, openUntil);
      }
    return { except: [...except], until };
  }

  /** The number of messages of a topic that may be in flight. */
  roomOf(topic: string): number {
    if (this.#paused.has(topic)) return 0;
    const breaker = this.#breakers.get(topic);
    if (breaker === undefined || breaker.openUntil === Number.NEGATIVE_INFINITY)
      return Number.POSITIVE_INFINITY;
    return this.#options.clock.monotonic() < breaker.openUntil ? 0 : 1;
  }

  /** Sets the topics that are paused, and returns those that changed. */
  pause(topics: readonly string[]): readonly HoldChange[] {
    const before = this.#paused;
    this.#paused = new Set(topics);
    const paused = topics.filter((topic) => !before.has(topic));
    const resumed = [...before].filter((topic) => !this.#paused.has(topic));
    return [
      ...paused.map((topic) => ({ type: "paused", topic }) as const),
      ...resumed.map((topic) => ({ type: "resumed", topic }) as const),
    ];
  }

  /**
   * Takes the outcomes of a call of the publisher. If all are terminal errors, they say nothing of the receiver.
   *
   * @returns the change of the breaker. While it is open there is none: the call began before
   */
  ended(topic: string, outcomes: readonly PromiseSettledResult<unknown>[]): HoldChange | undefined {
    const { breaker: options, clock, jitter: share, random } = this.#options;
    if (options === undefined) return undefined;
    const breaker = this.#breakers.get(topic) ?? {
      failures: 0,
      openUntil: Number.NEGATIVE_INFINITY,
    };
    const now = clock.monotonic();
    if (now < breaker.openUntil) return undefined;
    if (outcomes.some(({ status }) => status === "fulfilled")) {
      this.#breakers.delete(topic);
      return breaker.openUntil > Number.NEGATIVE_INFINITY ? { type: "closed", topic } : undefined;
    }
    if (outcomes.every((each) => each.status === "rejected" && isTerminalError(each.reason)))
      return undefined;
    this.#breakers.set(topic, breaker);
    breaker.failures++;
    if (breaker.failures < options.failures) return undefined;
    const openFor = jitter(options.openFor, share, random);
    breaker.openUntil = now + openFor;
    return { type: "opened", topic, openFor };
  }
}
