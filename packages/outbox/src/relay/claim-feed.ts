import { abortable } from "@holdfast/clock";
import { deferred } from "@holdfast/kit";
import { withTimeout } from "@holdfast/wait";
import { bytesOf } from "../message/stored-payload.ts";
import type { ClaimFilter, ClaimRequest } from "../store/outbox-store.ts";
import { report } from "../task.ts";
import { InterruptibleSleep, Look, repeat } from "./look.ts";
import type { HeldClaim } from "./outcomes.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";
import type { Wanted } from "./topic-queue.ts";

/** Delay before the next claim of messages that are due and were not claimed, in milliseconds. */
const SOON = 100;

type WantedClaims = Pick<ClaimRequest, "limit" | "maxBytes" | "exceptTopics" | "hasExpired">;

/** The callbacks of a {@link ClaimFeed}. */
export interface ClaimFeedHooks {
  /** What to claim; undefined while the workers have enough. */
  readonly wanted: () => Wanted | undefined;
  /** Receives each claim. */
  readonly onClaim: (held: HeldClaim) => void;
  /** Makes a claim, and its attempt, while nothing else is in flight. None if that takes too long. */
  readonly alone: (claim: () => Promise<unknown>, signal: AbortSignal) => Promise<void>;
}

/**
 * Claims messages that are due, as many as the workers need next.
 *
 * A claim that comes later than `storeTimeout` is passed on too: no other relay has the message.
 */
export class ClaimFeed {
  readonly #options: ResolvedRelayOptions;
  readonly #hooks: ClaimFeedHooks;
  readonly #sleep: InterruptibleSleep;
  /** Looks for the next due message, after a claim that found few. */
  readonly #due: Look;
  /** Looks for a message with an expired claim. */
  readonly #expired: Look;
  /** The next claim: a monotonic instant. */
  #claimAt: number;
  /** The duration of the last claim that found few. Another one that is not known to find more waits for as long. */
  #rest = 0;
  /** The topics that the last claim has left out. */
  #leftOut: readonly string[] = [];
  /** No claim that leaves topics out is made before this monotonic instant. */
  #restUntil: number = Number.NEGATIVE_INFINITY;
  /** Attempts the message with an expired claim that was found. It never rejects. */
  #alone: (() => Promise<void>) | undefined;

  constructor(options: ResolvedRelayOptions, hooks: ClaimFeedHooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.#sleep = new InterruptibleSleep(options.clock);
    this.#due = new Look(options);
    this.#expired = new Look(options);
    this.#claimAt = options.clock.monotonic();
    this.#expired.lookAt(this.#claimAt + options.pollInterval);
  }

  /** Claims at once. */
  wake(): void {
    this.#claimAt = Number.NEGATIVE_INFINITY;
    this.#sleep.interrupt();
  }

  /** A message is due then, in milliseconds since the epoch. */
  dueAt(instant: number): void {
    const { clock } = this.#options;
    this.#claimNotAfter(clock.monotonic() + instant - clock.now());
  }

  /** The workers may have room. */
  onRoom(): void {
    this.#sleep.interrupt();
  }

  /** Claims until the signal aborts. Neither look holds up the claims. */
  async run(signal: AbortSignal): Promise<void> {
    const turn = async (): Promise<void> => {
      await this.#sleep.until(() => this.#nextTurn(), signal);
      if (signal.aborted) return;
      const wanted = this.#hooks.wanted();
      if (this.#alone !== undefined) await this.#alone();
      else if (wanted !== undefined) await this.#claim(wanted);
    };
    await Promise.all([
      repeat({ run: turn, rest: () => 0, signal }, this.#options),
      this.#due.run((own) => this.#lookForDue(own), signal),
      this.#expired.run((own) => this.#lookForExpired(own), signal),
    ]);
  }

  /** A monotonic instant; `Infinity` while there is no room. */
  #nextTurn(): number {
    if (this.#alone !== undefined) return Number.NEGATIVE_INFINITY;
    const wanted = this.#hooks.wanted();
    if (wanted === undefined) return Number.POSITIVE_INFINITY;
    const { exceptTopics } = wanted;
    // A topic that has room again may have more.
    if (this.#leftOut.some((topic) => !exceptTopics.includes(topic)))
      return Number.NEGATIVE_INFINITY;
    return exceptTopics.length > 0 ? Math.max(this.#claimAt, this.#restUntil) : this.#claimAt;
  }

  #claimNotAfter(instant: number): void {
    this.#claimAt = Math.min(this.#claimAt, instant);
    this.#sleep.interrupt();
  }

  /** Claims what is wanted, and decides when to claim again. */
  async #claim(wanted: Wanted): Promise<void> {
    const { clock, pollInterval } = this.#options;
    const asked = clock.monotonic();
    this.#claimAt = Number.POSITIVE_INFINITY; // From now on `wake` and `dueAt` may lower it.
    this.#leftOut = wanted.exceptTopics;
    try {
      if (await this.#request({ ...wanted, hasExpired: false })) {
        this.#claimAt = asked;
        return;
      }
    } catch (error) {
      this.#claimAt = asked;
      throw error;
    }
    const now = clock.monotonic();
    this.#rest = now - asked;
    this.#restUntil = now + Math.max(SOON, this.#rest);
    // If `wake` says that there is more, there is no need to look.
    if (this.#claimAt > asked) this.#due.lookAt(now);
    this.#claimNotAfter(Math.max(asked + pollInterval, now + this.#rest));
  }

  /** Another process may have made a message due, and another relay may be claiming one that is. */
  async #lookForDue(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const delay = await this.#untilDue({ exceptTopics: this.#leftOut, hasExpired: false }, signal);
    this.#claimNotAfter(clock.monotonic() + (delay > 0 ? delay : Math.max(SOON, this.#rest)));
  }

  /**
   * Attempts one message of which a claim has expired, alone: it may end the process, and must not take others along.
   * Afterwards the others have as much time as all of that took.
   */
  async #lookForExpired(signal: AbortSignal): Promise<void> {
    const { clock, pollInterval } = this.#options;
    const asked = clock.monotonic();
    const delay = await this.#untilDue({ hasExpired: true }, signal);
    if (delay <= 0) await this.#attemptAlone(signal);
    const now = clock.monotonic();
    this.#expired.lookAt(delay > 0 ? asked + Math.min(delay, pollInterval) : now + SOON);
  }

  /** After the claim in hand. */
  async #attemptAlone(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = deferred<void>();
    const claim = (): Promise<boolean> => this.#request({ limit: 1, hasExpired: true });
    this.#alone = async () => {
      this.#alone = undefined;
      await this.#hooks.alone(claim, signal).then(resolve, reject);
    };
    this.#sleep.interrupt();
    await abortable(() => promise, signal);
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

  /** Claims once, and hands the claims on. Resolves with whether there may be more. */
  async #request(wanted: WantedClaims): Promise<boolean> {
    const { limit, maxBytes = Number.POSITIVE_INFINITY } = wanted;
    const { name: relay, store, clock, storeTimeout, claimDuration, topics } = this.#options;
    const now = clock.now();
    const began = clock.monotonic();
    const expires = began + claimDuration;
    const until = now + claimDuration;
    const request = async (signal: AbortSignal): Promise<boolean> => {
      const { claims, invalid } = await store.claim(
        { ...wanted, relay, now, until, topics },
        signal,
      );
      const duration = clock.monotonic() - began;
      report({ type: "claimed", count: claims.length, duration }, this.#options);
      for (const row of invalid) report({ type: "invalid", row }, this.#options);
      for (const claim of claims) this.#hooks.onClaim({ claim, expires, until });
      const bytes = claims.reduce((sum, { message }) => sum + bytesOf(message), 0);
      return claims.length + invalid.length === limit || bytes > maxBytes / 2;
    };
    return await withTimeout(request, storeTimeout, { clock, label: "store" });
  }
}
