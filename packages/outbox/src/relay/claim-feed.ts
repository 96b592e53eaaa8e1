import type { Source, SourceContext } from "@holdfast/controller";
import { Backoff, backoffManager, backoffUntil, type DelayFunc, withTimeout } from "@holdfast/wait";
import type { Claimed } from "../store/claim.ts";
import type { ClaimRequest } from "../store/outbox-store.ts";
import { report } from "../task/outbox-event.ts";
import { type HeldClaim, release } from "./attempt.ts";
import { Nap } from "./nap.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";

/** More than that are not remembered; the others come due by themselves. */
const MOST_SAVED = 10_000;

/** Delay before the next look for due messages, in milliseconds: other relays may be claiming them. */
const SOON = 100;

/** How long the feed waits after the store has failed, in milliseconds. */
const RECOVERY = { duration: 200, factor: 2, cap: 5_000, jitter: 0.2 };

/**
 * Claims messages as workers get free: those that were just saved, and those that are due.
 *
 * It holds at most twice as many as there are workers, and claims when it holds no more than there
 * are: so there is always a next one, and few requests to the store. When the store answers later than
 * `storeTimeout`, claims without room are given back.
 */
export class ClaimFeed implements Source<HeldClaim> {
  readonly name = "claims";
  readonly #options: ResolvedRelayOptions;
  readonly #nap: Nap;
  /** Claims that are not settled, by message id. */
  readonly #held = new Map<string, HeldClaim>();
  /** Ids of messages that were saved in this process, and not claimed yet. */
  #saved: string[] = [];
  /** The next look for due messages: a monotonic instant. */
  #lookAt: number;
  #state: "claiming" | "ended" = "claiming";
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ResolvedRelayOptions) {
    this.#options = options;
    this.#nap = new Nap(options.clock);
    this.#lookAt = options.clock.monotonic();
  }

  /** Claims that are not settled. */
  get held(): Iterable<HeldClaim> {
    return this.#held.values();
  }

  /** Resolves when it makes no further claim: after the abort and the reply to its last request. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  get counts(): { readonly held: number; readonly saved: number } {
    return { held: this.#held.size, saved: this.#saved.length };
  }

  saved(ids: readonly string[]): void {
    for (const id of ids) if (this.#saved.length < MOST_SAVED) this.#saved.push(id);
    this.#nap.wake();
  }

  /** There is nothing more to do for a claim. */
  settle(held: HeldClaim): void {
    const { id } = held.claim.message;
    if (this.#held.get(id) === held) this.#held.delete(id);
    this.#nap.wake();
  }

  /** A message is due then, in milliseconds since the epoch. */
  dueAt(instant: number): void {
    const { clock } = this.#options;
    this.#lookAt = Math.min(this.#lookAt, clock.monotonic() + instant - clock.now());
    this.#nap.wake();
  }

  async start(context: SourceContext<HeldClaim>, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const recovery = (): DelayFunc => new Backoff({ ...RECOVERY, random }).delayFunc();
    let rest: DelayFunc | undefined;
    const turn = async (): Promise<void> => {
      await this.#idle(signal);
      if (!signal.aborted) await this.#claim(context);
      rest = undefined;
    };
    const onError = (error: unknown): void => {
      rest ??= recovery();
      report({ type: "error", error }, this.#options);
    };
    const rests = { delayFunc: () => () => rest?.() ?? 0 };
    const manager = backoffManager(rests, { clock });
    this.#ended = backoffUntil(turn, manager, true, signal, { onError }).finally(() => {
      this.#state = "ended";
    });
    await this.#ended;
  }

  /** Waits until there is room, and something to claim. */
  async #idle(signal: AbortSignal): Promise<void> {
    const { clock, workers } = this.#options;
    for (;;) {
      const isFull = this.#held.size > workers;
      const untilLook = this.#lookAt - clock.monotonic();
      if (signal.aborted || (!isFull && (this.#saved.length > 0 || untilLook <= 0))) return;
      // A rest of less than the clock can measure would be no wait at all.
      await this.#nap.take(isFull ? Number.POSITIVE_INFINITY : Math.ceil(untilLook), signal);
    }
  }

  async #claim(context: SourceContext<HeldClaim>): Promise<void> {
    // Neither may block the other: if messages were saved, due messages get half of the room.
    const share = this.#saved.length > 0 ? Math.ceil(this.#room / 2) : this.#room;
    if (share > 0 && this.#lookAt <= this.#options.clock.monotonic())
      await this.#claimDue(share, context);
    await this.#claimSaved(this.#room, context);
  }

  /** How many more it may hold. */
  get #room(): number {
    return Math.max(0, 2 * this.#options.workers - this.#held.size);
  }

  async #claimDue(limit: number, context: SourceContext<HeldClaim>): Promise<void> {
    const { store, clock } = this.#options;
    const found = await this.#request((request) => store.claimDue(request, limit), context);
    if (found === limit) return; // There may be more.
    this.#lookAt = Number.POSITIVE_INFINITY; // From now on `dueAt` may lower it.
    const asked = clock.monotonic();
    const wait = await this.#waitForNext().catch((error: unknown) => {
      this.#lookAt = asked;
      throw error;
    });
    this.#lookAt = Math.min(this.#lookAt, asked + wait);
  }

  /** How long from now until a message is due, or another process may have made one due. */
  async #waitForNext(): Promise<number> {
    const { store, clock, pollPeriod } = this.#options;
    const now = clock.now();
    const next = await this.#bounded(() => store.nextDue());
    if (next === undefined) return pollPeriod;
    return Math.min(next > now ? next - now : SOON, pollPeriod);
  }

  async #claimSaved(limit: number, context: SourceContext<HeldClaim>): Promise<void> {
    const ids = this.#saved.slice(0, limit);
    if (ids.length === 0) return;
    await this.#request((request) => this.#options.store.claimSaved(ids, request), context);
    this.#saved = this.#saved.slice(ids.length);
  }

  /** @returns how many rows were found */
  async #request(
    claim: (request: ClaimRequest) => Promise<Claimed>,
    context: SourceContext<HeldClaim>,
  ): Promise<number> {
    const { name: worker, clock, claimLength } = this.#options;
    const now = clock.now();
    const began = clock.monotonic();
    const expires = began + claimLength;
    const request = { worker, now, until: now + claimLength };
    return await this.#bounded(async () => {
      const { claims, broken } = await claim(request);
      // Also if that was too late: no other relay has these messages.
      const duration = clock.monotonic() - began;
      report({ type: "claimed", count: claims.length, duration }, this.#options);
      for (const each of broken) report({ type: "broken", broken: each }, this.#options);
      for (const each of claims) this.#hold({ claim: each, expires }, context);
      return claims.length + broken.length;
    });
  }

  /** Queues a claim, or gives it back if it came too late to have room. */
  #hold(held: HeldClaim, { enqueue }: SourceContext<HeldClaim>): void {
    if (this.#state === "ended" || this.#room === 0) {
      void release(held, this.#options).then((event) => report(event, this.#options));
      return;
    }
    this.#held.set(held.claim.message.id, held);
    enqueue(held);
  }

  /** A request that is abandoned after `storeTimeout`. */
  async #bounded<Value>(request: () => Promise<Value>): Promise<Value> {
    const { clock, storeTimeout } = this.#options;
    return await withTimeout(request, storeTimeout, { clock, label: "store" });
  }
}
