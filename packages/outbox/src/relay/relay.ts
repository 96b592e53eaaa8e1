import { onAbort } from "@holdfast/clock";
import { requireArray, requireSignal } from "@holdfast/clock/internal";
import { Controller, type ControllerStatus, type ReconcileRequest } from "@holdfast/controller";
import { backoffUntil, ExponentialBackoffManager, withTimeout } from "@holdfast/wait";
import { requireUuid } from "../message/stored-text.ts";
import { type OutboxEvent, report } from "../task/outbox-event.ts";
import { attempt, type HeldClaim, release } from "./attempt.ts";
import { ClaimFeed } from "./claim-feed.ts";
import { type RelayOptions, type ResolvedRelayOptions, resolveRelay } from "./relay-options.ts";

/** The rests before a relay listens again after its connection was lost, in milliseconds. */
const LISTEN_AGAIN = { duration: 1_000, factor: 2, cap: 30_000, jitter: 0.5, resetAfter: 60_000 };

/** The state of a {@link Relay}. */
export interface RelayStatus {
  /** The controller that makes the attempts: its state, queue and workers. */
  readonly controller: ControllerStatus<HeldClaim>;

  /** The number of messages it has claimed and not settled. */
  readonly held: number;

  /** The number of messages just saved that it has not claimed yet. */
  readonly saved: number;
}

/**
 * Sends the messages of an outbox, each until the receiver has confirmed it or it is dead.
 *
 * The table is the truth and the queue a cache. A relay claims only as many messages as its workers can
 * start soon. If it dies, the compensation task makes them due again. Any number of relays share one
 * table; no message is attempted by two of them at the same time.
 *
 * | An attempt | Then the message |
 * | --- | --- |
 * | is confirmed | is `success` |
 * | fails, or takes longer than `publishTimeout` | is `failed`, and due after its wait |
 * | fails for the `maxRetryTimes`-th time, or with a `TerminalError` | is `dead` |
 * | could not begin in time, or was cut short by the end of `grace` | is due as before |
 * | has an outcome that cannot be written | is found by the compensation task, and sent again |
 *
 * It runs once: make another one for another run.
 */
export class Relay {
  /** Its name. */
  readonly name: string;
  readonly #options: ResolvedRelayOptions;
  readonly #feed: ClaimFeed;
  readonly #controller: Controller<HeldClaim>;

  /** @throws RangeError that names the options that are out of their range */
  constructor(options: RelayOptions) {
    const resolved = resolveRelay(options);
    const { name, clock, random, logger, workers, grace, storeTimeout } = resolved;
    this.name = name;
    this.#options = resolved;
    this.#feed = new ClaimFeed(resolved);
    this.#controller = new Controller<HeldClaim>({
      ...{ name, clock, random, logger, workers, grace },
      abortGrace: 2 * storeTimeout, // An attempt ends within one request.
      sources: [this.#feed],
      keyOf: ({ claim }) => claim.message.id,
      reconcile: (request) => this.#reconcile(request),
    });
  }

  /**
   * Messages have just been committed: they are sent at once. Others are found when they are due.
   *
   * @param ids - the ids of the messages. Those above 10,000 that wait for a worker are not remembered, and
   * come due by themselves
   * @throws RangeError or TypeError that names the argument
   */
  saved(ids: readonly string[]): void {
    requireArray("ids", ids);
    for (const [index, id] of ids.entries()) requireUuid(`ids[${index}]`, id);
    this.#feed.saved(ids);
  }

  /**
   * Runs until the signal aborts. Then it claims nothing more, finishes attempts within `grace`, and gives
   * the other messages back, which takes at most two requests to the store.
   *
   * @param signal - ends it. The promise resolves then, and no timer, listener or claim is left
   * @returns a promise that rejects with an Error if it has run before
   */
  async run(signal: AbortSignal): Promise<void> {
    requireSignal("signal", signal);
    const end = new AbortController();
    using _ = onAbort(signal, (reason) => end.abort(reason));
    const listening = this.#listen(end.signal);
    try {
      await this.#controller.run(signal);
    } finally {
      end.abort(); // also if the controller refuses a second run
      await listening;
    }
    await this.#feed.ended;
    const rest = [...this.#feed.held];
    await Promise.all(rest.map(async (held) => this.#settle(held, await this.#release(held))));
  }

  /** Its state, as plain data. */
  status(): RelayStatus {
    return { controller: this.#controller.status(), ...this.#feed.counts };
  }

  async #reconcile({ item, signal }: ReconcileRequest<HeldClaim>): Promise<void> {
    this.#settle(item, await attempt(item, this.#options, signal));
  }

  async #release(held: HeldClaim): Promise<OutboxEvent> {
    return await release(held, this.#options);
  }

  /** Hears of messages that other processes save, if the store can tell. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { store, listen, clock, random } = this.#options;
    if (!listen || store.listen === undefined) return;
    const rests = new ExponentialBackoffManager({ ...LISTEN_AGAIN, random, clock });
    const onError = (error: unknown): void => report({ type: "error", error }, this.#options);
    await backoffUntil(() => this.#listenOnce(signal), rests, true, signal, { onError });
  }

  /** After the abort a store that does not let go is left behind when `storeTimeout` is over. */
  async #listenOnce(signal: AbortSignal): Promise<void> {
    const { store, clock, storeTimeout } = this.#options;
    const listening = Promise.resolve(store.listen?.((ids) => this.#feed.saved(ids), signal));
    try {
      await withTimeout(() => listening, Number.POSITIVE_INFINITY, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      await withTimeout(() => listening, storeTimeout, { clock, label: "listen" });
    }
  }

  #settle(held: HeldClaim, event: OutboxEvent): void {
    const { store, clock } = this.#options;
    if (event.type === "failed" && event.failure.nextScheduleTime !== undefined)
      this.#feed.dueAt(event.failure.nextScheduleTime);
    // The next message of its key is due now.
    if (store.order === "businessKey" && (event.type === "published" || event.type === "dead"))
      this.#feed.dueAt(clock.now());
    this.#feed.settle(held);
    report(event, this.#options);
  }
}
