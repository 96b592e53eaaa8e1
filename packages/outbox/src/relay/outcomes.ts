import type { Clock, PassiveClock, Timer } from "@holdfast/clock";
import { deferred } from "@holdfast/clock/internal";
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
   * Writes an outcome. For a claim that is given back it makes one request: if that fails, the claim expires.
   *
   * @param signal - after its abort there is one request more
   * @returns the event to report. It never rejects
   */
  async write(held: HeldClaim, outcome: Outcome, signal: AbortSignal): Promise<OutboxEvent> {
    const { claim } = held;
    this.#pending++;
    try {
      const isWritten = await this.#batch.call(outcome).catch((error: unknown) => {
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

interface Call<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** Options for {@link Batch}. */
interface BatchOptions<Item, Result> {
  readonly clock: Clock;
  /** Maximum time that a call waits for others, in milliseconds. */
  readonly delay: number;
  /** Maximum number of calls in a batch. */
  readonly limit: number;
  /** Returns a result for each item, in order. If it rejects, each call does. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
}

/** Combines calls that come shortly after one another. A call waits for no batch under way. */
export class Batch<Item, Result> {
  readonly #options: BatchOptions<Item, Result>;
  #calls: Call<Item, Result>[] = [];
  #timer: Timer | undefined;

  constructor(options: BatchOptions<Item, Result>) {
    this.#options = options;
  }

  call(item: Item): Promise<Result> {
    const { clock, delay, limit } = this.#options;
    const { promise, resolve, reject } = deferred<Result>();
    this.#calls.push({ item, resolve, reject });
    if (this.#calls.length === 1)
      this.#timer = clock.afterFunc(delay, () => this.flush(), { label: "outcomes" });
    if (this.#calls.length >= limit) this.flush();
    return promise;
  }

  /** Runs the calls that wait, if there are any: none will join them soon. */
  flush(): void {
    this.#timer?.stop();
    const calls = this.#calls;
    this.#calls = [];
    if (calls.length > 0) void this.#run(calls);
  }

  async #run(calls: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(calls.map(({ item }) => item));
      for (const [i, { resolve }] of calls.entries()) resolve(results[i] as Result);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
