import { onAbort } from "@holdfast/clock";
import { LeaderElector, type Leadership } from "@holdfast/controller";
import { isTimeoutError, withTimeout } from "@holdfast/wait";
import { until } from "@holdfast/wait/go";
import { failureOf } from "../relay/failure-of.ts";
import { report } from "../relay/relay-event.ts";
import type { Claim } from "../store/claim.ts";
import { isStaleFenceError } from "../store/stale-fence-error.ts";
import {
  type CompensationOptions,
  type ResolvedCompensationOptions,
  resolveCompensation,
} from "./compensation-options.ts";

/**
 * Finds messages whose relays have died, and counts their attempts as failed ones: from then on they
 * are due as any other.
 *
 * It runs in every process, and works in one at a time: the holder of a lock. Its writes carry the
 * token of the lock, so that a holder that was paused, and wakes up after another one has taken over,
 * cannot write.
 */
export class Compensation {
  readonly name: string;
  readonly #options: ResolvedCompensationOptions;
  /** The same for all rounds: it measures for how long a dead holder has not renewed. */
  readonly #elector: LeaderElector;
  /** What is to be done when the lock was got. */
  #onLead: () => void = () => {};

  /** @throws RangeError that names the options that are out of their range */
  constructor(options: CompensationOptions) {
    this.#options = resolveCompensation(options);
    const { name, lock, lease, patience, clock, random, logger } = this.#options;
    this.name = name;
    this.#elector = new LeaderElector({
      ...{ lock, identity: name, clock, random, once: true },
      leaseDuration: lease,
      renewDeadline: (lease * 2) / 3,
      retryPeriod: Math.min(patience / 5, lease / 10),
      lead: (leadership) => this.#lead(leadership),
      onError: (error) => report({ type: "error", error }, this.#options),
      logger,
    });
  }

  /** Runs until the signal aborts, and gives the lock back. */
  async run(signal: AbortSignal): Promise<void> {
    const { period, clock } = this.#options;
    await until(() => this.#round(signal), period, signal, { clock });
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { clock, patience } = this.#options;
    const end = new AbortController();
    using _ = onAbort(signal, (reason) => end.abort(reason));
    using timer = clock.afterFunc(patience, () => end.abort(), { label: "patience" });
    this.#onLead = () => timer.stop();
    await this.#elector.run(end.signal);
  }

  /** After a stop it finishes the request in hand, under the lock, and begins no other. */
  async #lead({ token, signal, lost }: Leadership): Promise<void> {
    this.#onLead();
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
    const error = new Error(`${claim.worker} died, or could not write what became of its attempt`);
    const failure = failureOf(error, claim.message, { now: clock.now(), jitter, random });
    const release = (): Promise<boolean> =>
      store.releaseOrphan(claim, failure, { name: fence, token });
    const isDone = await this.#bounded(release, lost);
    if (!isDone) return; // Its worker was faster.
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
