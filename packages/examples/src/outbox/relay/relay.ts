import { Controller, type ControllerStatus, type ReconcileRequest } from "@holdfast/controller";
import { attempt, release } from "./attempt.ts";
import { ClaimFeed } from "./claim-feed.ts";
import type { HeldClaim } from "./held-claim.ts";
import { type RelayEvent, report } from "./relay-event.ts";
import { type RelayOptions, type ResolvedRelayOptions, resolveRelay } from "./relay-options.ts";

/** What a {@link Relay} does. */
export interface RelayStatus {
  readonly controller: ControllerStatus<HeldClaim>;
  /** How many messages it has claimed and not settled. */
  readonly held: number;
  /** How many it knows of that were just saved. */
  readonly saved: number;
}

/**
 * Sends what is in an outbox, each message until the other side has confirmed it or it is dead.
 *
 * The table is the truth and the queue a cache: what a relay has claimed is at most as much as its
 * workers can begin soon, and if it dies, the compensation task makes it due again. Any number of
 * relays share one table; no message is attempted by two of them at the same time.
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

  /** Messages have just been committed: they are sent at once. Others are found when they are due. */
  saved(ids: readonly string[]): void {
    this.#feed.saved(ids);
  }

  /**
   * Runs until the signal aborts. It claims nothing more then, finishes within `grace` what it can,
   * and gives the rest back, which takes no longer than two requests to the store may take.
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#controller.run(signal);
    await this.#feed.ended;
    const rest = [...this.#feed.held];
    await Promise.all(rest.map(async (held) => this.#settle(held, await this.#release(held))));
  }

  /** What it does, as plain data. */
  status(): RelayStatus {
    return { controller: this.#controller.status(), ...this.#feed.counts };
  }

  async #reconcile({ item, signal }: ReconcileRequest<HeldClaim>): Promise<void> {
    this.#settle(item, await attempt(item, this.#options, signal));
  }

  async #release(held: HeldClaim): Promise<RelayEvent> {
    return await release(held, this.#options);
  }

  #settle(held: HeldClaim, event: RelayEvent): void {
    if (event.type === "failed" && event.failure.nextScheduleTime !== undefined)
      this.#feed.dueAt(event.failure.nextScheduleTime);
    this.#feed.settle(held);
    report(event, this.#options);
  }
}
