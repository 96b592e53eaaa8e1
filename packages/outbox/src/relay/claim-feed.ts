import { withTimeout } from "@holdfast/wait";
import { endsWithin } from "@holdfast/wait/limit";
import { bytesOf } from "../message/stored-payload.ts";
import type { ClaimFilter } from "../store/outbox-store.ts";
import { type HoldChange, type OutboxEvent, report } from "../task.ts";
import type { HeldClaim } from "./outcomes.ts";
import { Recurring, type RecurringRequest } from "./recurring.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";
import type { TopicHolds } from "./topic-holds.ts";
import { NOTHING, type TopicQueue, type Wanted } from "./topic-queue.ts";

/** Delay before the next claim of messages that are due and were not claimed, in milliseconds. */
const SOON = 100;

/** What a {@link ClaimFeed} works with. */
export interface ClaimFeedParts {
  readonly queue: TopicQueue;
  readonly holds: TopicHolds;
  /** Resolves when no attempt and no outcome is under way. */
  readonly settled: () => Promise<void>;
}

/**
 * Claims messages that are due, as many as the workers need next. Neither look holds up the claims.
 *
 * A claim that comes later than `storeTimeout` is passed on too: no other relay has the message.
 */
export class ClaimFeed implements RecurringRequest {
  readonly #options: ResolvedRelayOptions;
  readonly #parts: ClaimFeedParts;
  readonly #claims: Recurring;
  /** Looks for the next due message, after a claim that found few. */
  readonly #due: Recurring;
  /** Looks for a message with an expired claim. */
  readonly #expired: Recurring;
  /** Looks for the topics that are paused. */
  readonly #paused: Recurring;
  /** Whether it has found them. */
  #knowsPaused: boolean;
  /** What was wanted when that was last asked. */
  #wanted: Wanted = NOTHING;
  /** The duration of the last claim that found few. Another one that is not known to find more waits for as long. */
  #rest = 0;
  /** The topics that the last claim has left out. */
  #leftOut: readonly string[] = [];
  /** No claim beside a topic with a backlog is made before this monotonic instant. */
  #restUntil: number = Number.NEGATIVE_INFINITY;

  constructor(options: ResolvedRelayOptions, parts: ClaimFeedParts) {
    this.#options = options;
    this.#parts = parts;
    const look = (send: RecurringRequest["send"]) => new Recurring(options, { send, rests: true });
    this.#claims = new Recurring(options, this);
    this.#due = look((signal) => this.#lookForDue(signal));
    this.#expired = look((signal) => this.#lookForExpired(signal));
    this.#paused = look((signal) => this.#lookForPaused(signal));
    this.#knowsPaused = options.store.pausedTopics === undefined;
    const now = options.clock.monotonic();
    this.#claims.by(now);
    this.#expired.by(now + options.pollInterval);
    if (!this.#knowsPaused) this.#paused.by(now);
  }

  /** Claims at once. */
  wake(): void {
    this.#claims.by(Number.NEGATIVE_INFINITY);
  }

  /** Looks for the topics that are paused at once. */
  lookForPaused(): void {
    if (this.#options.store.pausedTopics !== undefined) this.#paused.by(Number.NEGATIVE_INFINITY);
  }

  /** A topic is held from now on, or not: gives back what waits for it. Its attempts in flight go on. */
  onHold(change: HoldChange): void {
    const { type, topic } = change;
    if (type === "paused" || type === "opened") {
      this.#parts.queue.giveBack([topic]);
      this.#leftOut = [...this.#leftOut, topic];
    }
    this.#claims.look();
    report(change, this.#options);
  }

  /** There is more room. That changes nothing if there was enough for all topics. */
  onRoom(): void {
    const { limit, isCrowded } = this.#wanted;
    if (limit === 0 || isCrowded) this.#claims.look();
  }

  /** An outcome may let another message be claimed: the same one when it is due, the next one of its key at once. */
  onOutcome(event: OutboxEvent): void {
    const { clock, store } = this.#options;
    if (event.type === "failed" && event.failure.dueAt !== undefined)
      this.#claims.by(clock.monotonic() + event.failure.dueAt - clock.now());
    else if (store.order === "key") this.wake();
    this.onRoom();
  }

  /** Claims until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const all = [this.#claims, this.#due, this.#expired, this.#paused];
    await Promise.all(all.map((each) => each.run(signal)));
  }

  /** The instant of the next claim; `Infinity` while there is no room. */
  next(asked: number): number {
    this.#wanted = this.#knowsPaused ? this.#parts.queue.wanted() : NOTHING;
    const { limit, exceptTopics, isCrowded, until } = this.#wanted;
    if (limit === 0) return Number.POSITIVE_INFINITY;
    const except = new Set(exceptTopics);
    // A topic that has room again may have more.
    if (this.#leftOut.some((topic) => !except.has(topic))) return Number.NEGATIVE_INFINITY;
    return Math.min(isCrowded ? Math.max(asked, this.#restUntil) : asked, until);
  }

  /** Claims what is wanted, and decides when to claim again. */
  async send(): Promise<void> {
    const { clock, pollInterval } = this.#options;
    const asked = clock.monotonic();
    const wanted = this.#wanted;
    this.#leftOut = wanted.exceptTopics;
    if (await this.#request(wanted, false)) {
      // The other topics may have more: they do not rest.
      if (wanted.isCrowded) this.#restUntil = Number.NEGATIVE_INFINITY;
      this.#claims.by(asked);
      return;
    }
    const now = clock.monotonic();
    this.#rest = now - asked;
    this.#restUntil = now + Math.max(SOON, this.#rest);
    // If `wake` says that there is more, there is no need to look.
    if (this.#claims.at > asked) this.#due.by(now);
    this.#claims.by(Math.max(asked + pollInterval, now + this.#rest));
  }

  /** Another process may have made a message due, and another relay may be claiming one that is. */
  async #lookForDue(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const delay = await this.#untilDue({ exceptTopics: this.#leftOut, hasExpired: false }, signal);
    this.#claims.by(clock.monotonic() + (delay > 0 ? delay : Math.max(SOON, this.#rest)));
  }

  /** Afterwards the others have as much time as all of this took. */
  async #lookForExpired(signal: AbortSignal): Promise<void> {
    const { clock, pollInterval } = this.#options;
    const asked = clock.monotonic();
    const { except: exceptTopics } = this.#parts.holds.claimed();
    const delay = await this.#untilDue({ exceptTopics, hasExpired: true }, signal);
    if (delay <= 0) await this.#claimAlone(signal);
    const now = clock.monotonic();
    this.#expired.by(delay > 0 ? asked + Math.min(delay, pollInterval) : now + SOON);
  }

  /**
   * Claims one message of which a claim has expired. Its attempt may end the process, and must not take others along:
   * it begins when no other claim is held or in hand, and none is made until it has ended. It gives up if all else takes
   * longer than an attempt and its outcome may.
   */
  async #claimAlone(signal: AbortSignal): Promise<void> {
    const { clock, publishTimeout, storeTimeout } = this.#options;
    const { queue, holds, settled } = this.#parts;
    const becomesIdle = (): Promise<boolean> => {
      queue.giveBack();
      const limit = publishTimeout + storeTimeout;
      return endsWithin(settled, limit, { clock, signal, label: "alone" });
    };
    queue.admit("alone");
    try {
      await Promise.allSettled([this.#claims.last]);
      if (!(await becomesIdle())) return;
      const exceptTopics = holds.claimed().except;
      await this.#request({ limit: 1, maxBytes: Number.POSITIVE_INFINITY, exceptTopics }, true);
      await becomesIdle();
    } finally {
      queue.admit("all");
      this.#claims.look();
    }
  }

  async #lookForPaused(signal: AbortSignal): Promise<void> {
    const { store, clock, storeTimeout, pollInterval } = this.#options;
    const asked = clock.monotonic();
    const topics = await withTimeout(async (own) => store.pausedTopics?.(own), storeTimeout, {
      clock,
      signal,
      label: "store",
    });
    for (const change of this.#parts.holds.pause(topics ?? [])) this.onHold(change);
    this.#knowsPaused = true;
    this.#paused.by(asked + pollInterval);
    this.#claims.look();
  }

  /** The time until a message is due: not above 0 if one is, `Infinity` if there is none. */
  async #untilDue(among: Omit<ClaimFilter, "topics">, signal: AbortSignal): Promise<number> {
    const { store, clock, storeTimeout, topics } = this.#options;
    const now = clock.now();
    const filter = { ...among, topics };
    const next = await withTimeout((own) => store.nextDue(own, filter), storeTimeout, {
      clock,
      signal,
      label: "store",
    });
    return next === undefined ? Number.POSITIVE_INFINITY : next - now;
  }

  /** Claims once, for the queue. Resolves with whether there may be more. */
  async #request(
    { limit, maxBytes, exceptTopics }: Omit<Wanted, "isCrowded" | "until">,
    isAlone: boolean,
  ): Promise<boolean> {
    const { name: relay, store, clock, storeTimeout, claimDuration, topics } = this.#options;
    const now = clock.now();
    const began = clock.monotonic();
    const expires = began + claimDuration;
    const until = now + claimDuration;
    const filter = { topics, exceptTopics, hasExpired: isAlone };
    const request = async (signal: AbortSignal): Promise<boolean> => {
      const { claims, invalid } = await store.claim(
        { relay, now, until, limit, maxBytes, ...filter },
        signal,
      );
      const duration = clock.monotonic() - began;
      report({ type: "claimed", count: claims.length, duration }, this.#options);
      for (const row of invalid) report({ type: "invalid", row }, this.#options);
      const held: HeldClaim[] = [];
      let bytes = 0;
      for (const claim of claims) {
        held.push({ claim, expires, until, isAlone, isLate: signal.aborted });
        bytes += bytesOf(claim.message);
      }
      this.#parts.queue.add(held);
      return claims.length + invalid.length === limit || bytes > maxBytes / 2;
    };
    return await withTimeout(request, storeTimeout, { clock, label: "store" });
  }
}
