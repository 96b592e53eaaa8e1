import type { PassiveClock } from "@holdfast/clock";
import { Backoff, retry, withTimeout } from "@holdfast/wait";
import type { Claim } from "../store/claim.ts";
import type { Outcome } from "../store/outbox-store.ts";
import { type OutboxEvent, report } from "../task/outbox-event.ts";
import { Batch } from "./batch.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";

/** A claim, and the instant at which it expires on both lines of the clock. */
export interface HeldClaim {
  readonly claim: Claim;
  /** On the monotonic line: the wall clock may be set back meanwhile. */
  readonly expires: number;
  /** On the wall clock: the monotonic line of a suspended machine may stand still. */
  readonly until: number;
}

/** For how long a claim lasts, in milliseconds. Not above 0: it is over. */
export function leftOf({ expires, until }: HeldClaim, clock: PassiveClock): number {
  return Math.min(expires - clock.monotonic(), until - clock.now());
}

/** Maximum time that an outcome waits for others to be written with it, in milliseconds. */
const LATE = 5;

/** Maximum number of outcomes in one statement. */
const MOST_TOGETHER = 256;

/** The delays before an outcome is written once more, in milliseconds. */
const WRITE_AGAIN = { duration: 100, factor: 2, cap: 5_000, jitter: 0.5 };

/**
 * Writes the outcomes of claims, many in one statement. If that fails, each is written by itself, again and
 * again until its claim expires or the relay ends: one that the database refuses must not keep the others.
 */
export class Outcomes {
  readonly #options: ResolvedRelayOptions;
  readonly #batch: Batch<Outcome, boolean>;
  /** The number of outcomes that are not written. */
  #pending = 0;

  constructor(options: ResolvedRelayOptions) {
    this.#options = options;
    const { clock } = options;
    this.#batch = new Batch({
      clock,
      delay: LATE,
      limit: MOST_TOGETHER,
      run: (outcomes) => this.#request(outcomes),
    });
  }

  get pending(): number {
    return this.#pending;
  }

  /** Writes outcomes that wait for others: none will come soon. */
  flush(): void {
    this.#batch.flush();
  }

  /**
   * Writes an outcome.
   *
   * @param signal - after its abort there is one request more
   * @returns the event to report. It never rejects
   */
  async write(held: HeldClaim, outcome: Outcome, signal: AbortSignal): Promise<OutboxEvent> {
    const { claim } = held;
    this.#pending++;
    try {
      const isWritten = await this.#batch.call(outcome).catch((error: unknown) => {
        report({ type: "error", error }, this.#options);
        return this.#writeAlone(held, outcome, signal);
      });
      return isWritten ? eventOf(outcome) : { type: "lost", claim };
    } catch (error) {
      return { type: "unwritten", claim, error };
    } finally {
      this.#pending--;
    }
  }

  async #writeAlone(held: HeldClaim, outcome: Outcome, signal: AbortSignal): Promise<boolean> {
    const { clock, random, storeTimeout } = this.#options;
    const backoff = new Backoff({ ...WRITE_AGAIN, random });
    const request = async (): Promise<boolean> => (await this.#request([outcome]))[0] === true;
    try {
      await clock.sleep(backoff.step(), { signal });
      return await retry(request, {
        attemptTimeout: storeTimeout,
        clock,
        backoff,
        retries: Number.POSITIVE_INFINITY,
        maxElapsed: Math.max(0, leftOf(held, clock)),
        onRetry: ({ error }) => report({ type: "error", error }, this.#options),
        signal,
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      return await request();
    }
  }

  /** Gives a claim back that no attempt was made for. One request: if it fails, the claim expires. */
  async release({ claim }: Pick<HeldClaim, "claim">): Promise<OutboxEvent> {
    this.#pending++;
    try {
      const isWritten = await this.#batch.call({ type: "released", claim });
      return { type: isWritten ? "released" : "lost", claim };
    } catch (error) {
      return { type: "unwritten", claim, error };
    } finally {
      this.#pending--;
    }
  }

  async #request(outcomes: readonly Outcome[]): Promise<readonly boolean[]> {
    const { store, storeTimeout, clock } = this.#options;
    return await withTimeout((signal) => store.write(outcomes, signal), storeTimeout, {
      clock,
      label: "write",
    });
  }
}

function eventOf(outcome: Outcome): OutboxEvent {
  const { type, claim } = outcome;
  if (type !== "failed") return { type, claim };
  const { failure } = outcome;
  return { type: failure.dueAt === undefined ? "dead" : "failed", claim, failure };
}
