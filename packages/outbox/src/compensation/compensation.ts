import {
  requireAtLeast,
  requireFinite,
  requireMethods,
  requireWhole,
} from "@holdfast/clock/internal";
import type { Leadership } from "@holdfast/controller";
import { isTimeoutError, withTimeout } from "@holdfast/wait";
import { requireStoredName } from "../message/stored-text.ts";
import { lostAttempt } from "../relay/failure-of.ts";
import type { Claim } from "../store/claim.ts";
import type { OutboxStore } from "../store/outbox-store.ts";
import { isStaleFenceError } from "../store/stale-fence-error.ts";
import { LockedRounds, type LockedTaskOptions, resolveLockedTask } from "../task/locked-rounds.ts";
import { report } from "../task/outbox-event.ts";
import type { Resolved } from "../task/task-options.ts";

/** Options for {@link Compensation}. Durations are in milliseconds. */
export interface CompensationOptions extends LockedTaskOptions {
  /** Where the messages are. */
  readonly store: Pick<OutboxStore<never>, "orphans" | "releaseOrphan">;

  /**
   * The name of the fence of its writes: the same in all processes, another one for each lock.
   *
   * @defaultValue `"compensation"`
   */
  readonly fence?: string | undefined;

  /**
   * Minimum time that a round keeps the lock, in milliseconds, so that the next process does not repeat it
   * at once. At least 0.
   *
   * @defaultValue `5_000`
   */
  readonly hold?: number | undefined;

  /**
   * The maximum number of messages in a round. Whole, at least 1.
   *
   * @defaultValue `100`
   */
  readonly batch?: number | undefined;
}

/**
 * Finds messages whose relays have died, and makes them due again. Their attempts count in
 * `lostAttempts`, since they may have been confirmed; the fourth makes the message dead.
 *
 * It runs in every process, and works in one at a time: the holder of a lock. Its writes carry the token
 * of the lock: a holder that was paused, and continues after another one has taken over, can write no
 * more.
 *
 * @example
 * ```ts no-run
 * import { Compensation } from "@holdfast/outbox";
 * import { PgDatabase, PostgresLock, PostgresStore } from "@holdfast/outbox/postgres";
 * import pg from "pg";
 *
 * const database = new PgDatabase(new pg.Pool());
 * const compensation = new Compensation({
 *   name: `shop-${process.pid}`,
 *   store: new PostgresStore(database),
 *   lock: new PostgresLock(database, "outbox-compensation"),
 * });
 * await compensation.run(AbortSignal.timeout(60_000));
 * ```
 */
export class Compensation {
  /** Its name. */
  readonly name: string;
  readonly #options: Resolved<CompensationOptions>;
  readonly #rounds: LockedRounds;

  /** @throws RangeError or TypeError that names the option */
  constructor(options: CompensationOptions) {
    this.#options = resolveCompensation(options);
    this.name = this.#options.name;
    this.#rounds = new LockedRounds(this.#options, (leadership) => this.#compensate(leadership));
  }

  /** Runs until the signal aborts, and releases the lock. Then it resolves. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#rounds.run(signal);
  }

  /** After a stop it finishes the request in hand, under the lock, and begins no other. */
  async #compensate({ token, signal, lost }: Leadership): Promise<void> {
    const { store, clock, batch, hold } = this.#options;
    const over = clock.monotonic() + hold;
    const now = Math.floor(clock.now());
    const { claims, broken } = await this.#bounded(() => store.orphans(now, batch), lost);
    for (const each of broken) report({ type: "broken", broken: each }, this.#options);
    for (const claim of claims) {
      if (signal.aborted) return;
      await this.#tryRelease(claim, { token, lost });
    }
    await clock.sleep(over - clock.monotonic(), { signal });
  }

  /** One that cannot be written must not keep the others waiting, round for round. */
  async #tryRelease(claim: Claim, term: Pick<Leadership, "token" | "lost">): Promise<void> {
    try {
      await this.#release(claim, term);
    } catch (error) {
      if (term.lost.aborted || isStaleFenceError(error) || isTimeoutError(error)) throw error;
      report({ type: "error", error }, this.#options);
    }
  }

  async #release(claim: Claim, { token, lost }: Pick<Leadership, "token" | "lost">): Promise<void> {
    const { store, clock, fence, jitter, random } = this.#options;
    const failure = lostAttempt(claim, { now: clock.now(), jitter, random });
    const release = (): Promise<boolean> =>
      store.releaseOrphan(claim, failure, { name: fence, token });
    const isDone = await this.#bounded(release, lost);
    if (!isDone) return; // Its relay was faster.
    report({ type: "orphan", claim, failure }, this.#options);
    if (failure.nextScheduleTime === undefined)
      report({ type: "dead", claim, failure }, this.#options);
  }

  /** A request that is abandoned after `storeTimeout`, or when the lock is lost. */
  async #bounded<Value>(request: () => Promise<Value>, lost: AbortSignal): Promise<Value> {
    const { clock, storeTimeout } = this.#options;
    return await withTimeout(request, storeTimeout, { clock, signal: lost, label: "store" });
  }
}

function resolveCompensation(options: CompensationOptions): Resolved<CompensationOptions> {
  const task = resolveLockedTask(options);
  const { store, fence = "compensation", hold = 5_000, batch = 100 } = options;
  requireMethods("options.store", store, ["orphans", "releaseOrphan"]);
  requireStoredName("options.fence", fence);
  requireAtLeast("options.hold", hold, 0);
  requireWhole("options.batch", requireFinite("options.batch", batch), 1);
  return { ...task, store, fence, hold, batch };
}
