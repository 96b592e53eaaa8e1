import type { Leadership } from "@holdfast/controller";
import { count, finiteFrom, type Kinds, methods, read, required } from "@holdfast/kit";
import { isTimeoutError } from "@holdfast/wait";
import { expiredClaim } from "../failure-of.ts";
import { storedName } from "../message/stored-text.ts";
import type { Claim } from "../store/claim.ts";
import type { OutboxStore } from "../store/outbox-store.ts";
import { isStaleFenceError } from "../store/stale-fence-error.ts";
import { type Resolved, report } from "../task.ts";
import {
  LOCKED_TASK_OPTIONS,
  LockedTask,
  type LockedTaskOptions,
  resolveLockedTask,
} from "./locked-task.ts";

/** Options for {@link Recovery}. Durations are in milliseconds. */
export interface RecoveryOptions extends LockedTaskOptions {
  /** Where the messages are. */
  readonly store: Pick<OutboxStore<never>, "expired" | "recover" | "restriction" | "now">;

  /**
   * The name of the fence of its writes: the same in all processes, another one for each lock.
   *
   * @defaultValue `"recovery"`
   */
  readonly fence?: string | undefined;

  /**
   * Minimum duration of a round, in milliseconds: it keeps the lock so long, so that the next process does not
   * repeat it at once. Finite, at least 0.
   *
   * @defaultValue `5_000`
   */
  readonly minRound?: number | undefined;

  /**
   * The maximum number of messages in a round. Whole, at least 1.
   *
   * @defaultValue `100`
   */
  readonly batch?: number | undefined;
}

/**
 * Ends expired claims: those of relays that died, or could not write an outcome. The claim counts in `expiredClaims`
 * and not as a failed attempt, since the message may have been delivered.
 *
 * | Expired claim | The message |
 * | --- | --- |
 * | first | is due at once: its attempt may not have begun. From now on it is attempted alone |
 * | second, third | is due after its delay |
 * | fourth | is a dead letter |
 *
 * It runs in every process, and works in one at a time: the holder of a lock. Its writes carry the token
 * of the lock: a holder that was paused, and continues after another one has taken over, can write no
 * more.
 *
 * @example
 * ```ts no-run
 * import { randomUUID } from "node:crypto";
 * import { hostname } from "node:os";
 * import { PostgresLock } from "@holdfast/controller/postgres-lock";
 * import { Recovery } from "@holdfast/outbox";
 * import { PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionTimeoutMillis: 5_000, statement_timeout: 5_000 });
 * const lock = new PostgresLock(pool, { name: "outbox" });
 * await lock.createTable();
 * const recovery = new Recovery({
 *   name: `${hostname()}-${randomUUID().slice(0, 8)}`,
 *   store: new PostgresStore(new PgDatabase(pool)),
 *   lock,
 * });
 * await recovery.run(AbortSignal.timeout(60_000));
 * ```
 */
export class Recovery extends LockedTask {
  readonly #options: Resolved<RecoveryOptions>;

  /** @throws RangeError or TypeError that names the option */
  constructor(options: RecoveryOptions) {
    const resolved = resolveRecovery(options);
    super(resolved, "recovery");
    this.#options = resolved;
  }

  /**
   * After a stop it finishes the request in hand, under the lock, and begins no other.
   *
   * @internal
   */
  protected override async round({ token, signal, lost }: Leadership): Promise<void> {
    const { store, clock, batch, minRound } = this.#options;
    const over = clock.monotonic() + minRound;
    const now = await this.now(lost);
    const { claims, invalid } = await this.request((own) => store.expired(now, batch, own), lost);
    for (const row of invalid) report({ type: "invalid", row }, this.#options);
    for (const claim of claims) {
      if (signal.aborted) return;
      await this.#tryEnd(claim, { token, lost });
    }
    await clock.sleep(over - clock.monotonic(), { signal });
  }

  /** One that cannot be written must not keep the others waiting, round for round. */
  async #tryEnd(claim: Claim, term: Pick<Leadership, "token" | "lost">): Promise<void> {
    try {
      await this.#end(claim, term);
    } catch (error) {
      if (term.lost.aborted || isStaleFenceError(error) || isTimeoutError(error)) throw error;
      report({ type: "error", error }, this.#options);
    }
  }

  async #end(claim: Claim, { token, lost }: Pick<Leadership, "token" | "lost">): Promise<void> {
    const { store, clock, fence, jitter, random } = this.#options;
    const failure = expiredClaim(claim, { now: clock.now(), jitter, random });
    const recover = (own: AbortSignal): Promise<boolean> =>
      store.recover(claim, failure, { name: fence, token }, own);
    const isDone = await this.request(recover, lost);
    if (!isDone) return; // Its relay was faster.
    report({ type: "expired", claim, failure }, this.#options);
    if (failure.dueAt === undefined) report({ type: "dead", claim, failure }, this.#options);
  }
}

export const RECOVERY_OPTIONS: Kinds<RecoveryOptions> = {
  batch: count,
  ...LOCKED_TASK_OPTIONS,
  store: required(methods("expired", "recover")),
  fence: storedName,
  minRound: finiteFrom(0),
};

function resolveRecovery(options: RecoveryOptions): Resolved<RecoveryOptions> {
  const given = read("options", options, "Recovery", RECOVERY_OPTIONS);
  const { store, fence = "recovery", minRound = 5_000, batch = 100 } = given;
  return { ...resolveLockedTask(given), store, fence, minRound, batch };
}
