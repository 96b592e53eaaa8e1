import { type Clock, onAbort } from "@holdfast/clock";
import { deferred } from "@holdfast/clock/internal";
import { Backoff, type DelayFunc, withTimeout } from "@holdfast/wait";
import { loop } from "@holdfast/wait/internal";
import { bytesOf } from "../message/stored-payload.ts";
import type { ClaimFilter, ClaimRequest } from "../store/outbox-store.ts";
import { report } from "../task.ts";
import type { HeldClaim } from "./outcomes.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";
import type { Wanted } from "./topic-queue.ts";

/** Delay before the next look for messages that are due and were not claimed, in milliseconds. */
const SOON = 100;

/** A look that found little beside topics with many messages reads these too: it takes a tenth of the time. */
const REST = 10;

/** The delays after the store has failed, in milliseconds. */
const STORE_AGAIN = { duration: 200, factor: 2, cap: 5_000, jitter: 0.2 };

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
  /** The next look for due messages: a monotonic instant. */
  #lookAt: number;
  /** The topics that the last look has left out. */
  #leftOut: readonly string[] = [];
  /** The next look for a message with an expired claim, which is attempted alone: a monotonic instant. */
  #lookAloneAt: number;
  /** No look that leaves topics out is made before this monotonic instant. */
  #restUntil: number = Number.NEGATIVE_INFINITY;

  constructor(options: ResolvedRelayOptions, hooks: ClaimFeedHooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.#sleep = new InterruptibleSleep(options.clock);
    this.#lookAt = options.clock.monotonic();
    this.#lookAloneAt = this.#lookAt + options.pollInterval;
  }

  /** Looks for due messages at once. */
  wake(): void {
    this.#lookAt = Number.NEGATIVE_INFINITY;
    this.#sleep.interrupt();
  }

  /** A message is due then, in milliseconds since the epoch. */
  dueAt(instant: number): void {
    const { clock } = this.#options;
    this.#lookAt = Math.min(this.#lookAt, clock.monotonic() + instant - clock.now());
    this.#sleep.interrupt();
  }

  /** The workers may have room. */
  onRoom(): void {
    this.#sleep.interrupt();
  }

  /** Claims until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let delay: DelayFunc | undefined;
    const turn = async (): Promise<void> => {
      const wanted = await this.#untilNeeded(signal);
      if (wanted === "alone") await this.#claimAlone(signal);
      else if (wanted !== undefined) await this.#claim(wanted);
      delay = undefined;
    };
    const onError = (error: unknown): void => {
      delay ??= new Backoff({ ...STORE_AGAIN, random }).delayFunc();
      report({ type: "error", error }, this.#options);
    };
    await loop({ run: turn, delay: () => delay?.() ?? 0, signal, clock, onError });
  }

  /** Waits until there is room, and something to claim. Undefined after the abort. */
  async #untilNeeded(signal: AbortSignal): Promise<Wanted | "alone" | undefined> {
    const { clock } = this.#options;
    for (;;) {
      if (signal.aborted) return undefined;
      const now = clock.monotonic();
      if (this.#lookAloneAt <= now) return "alone";
      const wanted = this.#hooks.wanted();
      const lookAt = wanted === undefined ? Number.POSITIVE_INFINITY : this.#lookFor(wanted);
      if (lookAt <= now) return wanted;
      // A sleep of less than the clock can measure would be none at all.
      await this.#sleep.run(Math.ceil(Math.min(lookAt, this.#lookAloneAt) - now), signal);
    }
  }

  /** When to look for these. */
  #lookFor({ exceptTopics }: Wanted): number {
    // A topic that has room again may have more.
    if (this.#leftOut.some((topic) => !exceptTopics.includes(topic)))
      return Number.NEGATIVE_INFINITY;
    return exceptTopics.length > 0 ? Math.max(this.#lookAt, this.#restUntil) : this.#lookAt;
  }

  /** Claims what is wanted, and decides when to look again. */
  async #claim(wanted: Wanted): Promise<void> {
    const { clock } = this.#options;
    const asked = clock.monotonic();
    this.#lookAt = Number.POSITIVE_INFINITY; // From now on `wake` and `dueAt` may lower it.
    this.#leftOut = wanted.exceptTopics;
    try {
      if (await this.#request({ ...wanted, hasExpired: false })) {
        this.#lookAt = asked;
        return;
      }
      // If `wake` says that there is more, there is no need to ask.
      if (this.#lookAt > asked) {
        const next = asked + (await this.#untilNextLook(wanted));
        this.#lookAt = Math.min(this.#lookAt, next);
      }
      const now = clock.monotonic();
      this.#restUntil = now + Math.max(SOON, REST * (now - asked));
    } catch (error) {
      this.#lookAt = asked;
      throw error;
    }
  }

  /** Another process may make a message due, and another relay may be claiming one that is. */
  async #untilNextLook({ exceptTopics }: Wanted): Promise<number> {
    const delay = await this.#untilDue({ exceptTopics, hasExpired: false });
    return delay > 0 ? Math.min(delay, this.#options.pollInterval) : SOON;
  }

  /**
   * Attempts one message of which a claim has expired, alone: it may end the process, and must not take others along.
   * Afterwards the others have as much time as that took.
   */
  async #claimAlone(signal: AbortSignal): Promise<void> {
    const { clock, pollInterval } = this.#options;
    const asked = clock.monotonic();
    this.#lookAloneAt = asked + pollInterval;
    const delay = await this.#untilDue({ hasExpired: true });
    this.#lookAloneAt = asked + Math.min(delay, pollInterval);
    if (delay > 0) return;
    const claim = (): Promise<boolean> => this.#request({ limit: 1, hasExpired: true });
    await this.#hooks.alone(claim, signal);
    const now = clock.monotonic();
    this.#lookAloneAt = now + Math.max(SOON, now - asked);
  }

  /** The time until a message is due: not above 0 if one is, `Infinity` if there is none. */
  async #untilDue(among: Omit<ClaimFilter, "topics">): Promise<number> {
    const { store, clock, storeTimeout, topics } = this.#options;
    const now = clock.now();
    const filter = { ...among, topics };
    const next = await withTimeout((signal) => store.nextDue(signal, filter), storeTimeout, {
      clock,
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

/** A sleep that can be cut short. One at a time. */
class InterruptibleSleep {
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
   * @param duration - the maximum, in milliseconds
   * @param signal - ends the sleep too
   * @returns a promise that always resolves
   */
  async run(duration: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = deferred<void>();
    this.#wake = resolve;
    using _timer = this.#clock.afterFunc(duration, resolve, { label: "due" });
    using _abort = onAbort(signal, () => resolve());
    await promise;
  }
}
