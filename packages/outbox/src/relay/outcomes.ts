import type { PassiveClock, Timer } from "@holdfast/clock";
import { deferred } from "@holdfast/kit";
import { Backoff, retry, withTimeout } from "@holdfast/wait";
import type { Claim } from "../store/claim.ts";
import type { Outcome } from "../store/outbox-store.ts";
import { type OutboxEvent, report } from "../task.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";

/** A claim, and the instant at which it expires on both lines of the clock. */
export interface HeldClaim {
  readonly claim: Claim;
  /** On the monotonic line: the wall clock may be set back meanwhile. */
  readonly expires: number;
  /** On the wall clock: the monotonic line of a suspended machine may stand still. */
  readonly until: number;
  /** Whether its message is attempted alone: a claim of it has expired, and its attempt may end the process. */
  readonly isAlone: boolean;
  /** Whether it came after the time of its request was over. */
  readonly isLate: boolean;
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

/** An outcome that waits for others. */
interface Waiting {
  readonly outcome: Outcome;
  readonly resolve: (isWritten: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes the outcomes of claims, those that come shortly after one another in one statement. If that fails, each is
 * written by itself, again and again until its claim expires or the relay ends: one that the database refuses must not
 * keep the others. None waits for a statement under way.
 */
export class Outcomes {
  readonly #options: ResolvedRelayOptions;
  #waiting: Waiting[] = [];
  #timer: Timer | undefined;
  /** The number of outcomes that are not written. */
  #pending = 0;

  constructor(options: ResolvedRelayOptions) {
    this.#options = options;
  }

  get pending(): number {
    return this.#pending;
  }

  /**
   * Writes an outcome. For a claim that is given back it makes one request: if that fails, the claim expires.
   *
   * @param signal - after its abort there is one request more
   * @returns the event to report. It never rejects
   */
  async write(held: HeldClaim, outcome: Outcome, signal: AbortSignal): Promise<OutboxEvent> {
    const { claim } = held;
    this.#pending++;
    try {
      const isWritten = await this.#writeWithOthers(outcome).catch((error: unknown) => {
        if (outcome.type === "released") throw error;
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

  /** Writes outcomes that wait for others: none will come soon. */
  flush(): void {
    this.#timer?.stop();
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) void this.#writeAll(waiting);
  }

  #writeWithOthers(outcome: Outcome): Promise<boolean> {
    const { promise, resolve, reject } = deferred<boolean>();
    this.#waiting.push({ outcome, resolve, reject });
    if (this.#waiting.length === MOST_TOGETHER) this.flush();
    else if (this.#waiting.length === 1)
      this.#timer = this.#options.clock.afterFunc(LATE, () => this.flush(), { label: "outcomes" });
    return promise;
  }

  async #writeAll(waiting: readonly Waiting[]): Promise<void> {
    try {
      const areWritten = await this.#request(waiting.map(({ outcome }) => outcome));
      for (const [i, { resolve }] of waiting.entries()) resolve(areWritten[i] === true);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
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
