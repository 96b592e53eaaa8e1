import { type Clock, onAbort } from "@holdfast/clock";
import { deferred } from "@holdfast/clock/internal";
import { Backoff, type DelayFunc, withTimeout } from "@holdfast/wait";
import { loop } from "@holdfast/wait/internal";
import { report } from "../task/outbox-event.ts";
import type { HeldClaim } from "./outcomes.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";

/** Delay before the next look for due messages, in milliseconds: other relays may be claiming them. */
const SOON = 100;

/** The delays after the store has failed, in milliseconds. */
const STORE_AGAIN = { duration: 200, factor: 2, cap: 5_000, jitter: 0.2 };

/** The callbacks of a {@link ClaimFeed}. */
export interface ClaimFeedHooks {
  /** The number of claims that the workers can take. */
  readonly room: () => number;
  /** Receives each claim. */
  readonly onClaim: (held: HeldClaim) => void;
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

  constructor(options: ResolvedRelayOptions, hooks: ClaimFeedHooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.#sleep = new InterruptibleSleep(options.clock);
    this.#lookAt = options.clock.monotonic();
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
      const room = await this.#untilNeeded(signal);
      if (room > 0) await this.#claim(room);
      delay = undefined;
    };
    const onError = (error: unknown): void => {
      delay ??= new Backoff({ ...STORE_AGAIN, random }).delayFunc();
      report({ type: "error", error }, this.#options);
    };
    await loop({ run: turn, delay: () => delay?.() ?? 0, signal, clock, onError });
  }

  /** Waits until there is room, and something to claim. Returns the room, 0 after the abort. */
  async #untilNeeded(signal: AbortSignal): Promise<number> {
    const { clock } = this.#options;
    for (;;) {
      if (signal.aborted) return 0;
      const room = this.#hooks.room();
      const untilLook = this.#lookAt - clock.monotonic();
      if (room > 0 && untilLook <= 0) return room;
      // A sleep of less than the clock can measure would be none at all.
      await this.#sleep.run(room > 0 ? Math.ceil(untilLook) : Number.POSITIVE_INFINITY, signal);
    }
  }

  async #claim(limit: number): Promise<void> {
    const { clock } = this.#options;
    this.#lookAt = Number.POSITIVE_INFINITY; // From now on `wake` and `dueAt` may lower it.
    const asked = clock.monotonic();
    try {
      const found = await this.#request(limit);
      // There may be more, or `wake` says so: then there is no need to ask.
      if (found === limit) this.#lookAt = asked;
      else if (this.#lookAt > asked) {
        const delay = await this.#delayOfNext();
        this.#lookAt = Math.min(this.#lookAt, asked + delay);
      }
    } catch (error) {
      this.#lookAt = asked;
      throw error;
    }
  }

  /** The delay until a message is due, or another process may have made one due. */
  async #delayOfNext(): Promise<number> {
    const { store, clock, storeTimeout, pollPeriod } = this.#options;
    const now = clock.now();
    const next = await withTimeout((signal) => store.nextDue(signal), storeTimeout, {
      clock,
      label: "store",
    });
    if (next === undefined) return pollPeriod;
    return Math.min(next > now ? next - now : SOON, pollPeriod);
  }

  /** @returns the number of rows found */
  async #request(limit: number): Promise<number> {
    const { name: relay, store, clock, storeTimeout, claimDuration } = this.#options;
    const now = clock.now();
    const began = clock.monotonic();
    const expires = began + claimDuration;
    const request = async (signal: AbortSignal): Promise<number> => {
      const { claims, invalid } = await store.claim(
        { relay, now, until: now + claimDuration, limit },
        signal,
      );
      const duration = clock.monotonic() - began;
      report({ type: "claimed", count: claims.length, duration }, this.#options);
      for (const row of invalid) report({ type: "invalid", row }, this.#options);
      for (const claim of claims) this.#hooks.onClaim({ claim, expires });
      return claims.length + invalid.length;
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
    using _timer =
      duration < Number.POSITIVE_INFINITY
        ? this.#clock.afterFunc(duration, resolve, { label: "due" })
        : undefined;
    using _abort = onAbort(signal, () => resolve());
    await promise;
  }
}
