import type { PassiveClock, Timer } from "@holdfast/clock";
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

/** The outcome of a claim that is held. */
export interface HeldOutcome {
  readonly held: HeldClaim;
  readonly outcome: Outcome;
}

/**
 * Writes the outcomes of claims, those that come shortly after one another in one statement. If that fails, each is
 * written by itself, again and again until its claim expires or the relay ends: one that the database refuses must not
 * keep the others. None waits for a statement under way.
 */
export class Outcomes {
  readonly #options: ResolvedRelayOptions;
  readonly #signal: AbortSignal;
  readonly #onEnd: (event: OutboxEvent) => void;
  #waiting: HeldOutcome[] = [];
  #timer: Timer | undefined;
  /** The number of outcomes that are not written. */
  #pending = 0;

  /**
   * @param signal - after its abort each outcome has one request more
   * @param onEnd - receives the event of each outcome, once it is written or given up. It must not throw
   */
  constructor(
    options: ResolvedRelayOptions,
    signal: AbortSignal,
    onEnd: (event: OutboxEvent) => void,
  ) {
    this.#options = options;
    this.#signal = signal;
    this.#onEnd = onEnd;
  }

  get pending(): number {
    return this.#pending;
  }

  /** Writes an outcome. For a claim that is given back it makes one request: if that fails, the claim expires. */
  add(ended: HeldOutcome): void {
    this.#pending++;
    this.#waiting.push(ended);
    if (this.#waiting.length === MOST_TOGETHER) this.flush();
    else if (this.#waiting.length === 1)
      this.#timer = this.#options.clock.afterFunc(LATE, () => this.flush(), { label: "outcomes" });
  }

  /** Writes outcomes that wait for others: none will come soon. */
  flush(): void {
    this.#timer?.stop();
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) void this.#write(waiting);
  }

  async #write(all: readonly HeldOutcome[]): Promise<void> {
    let areWritten: readonly boolean[];
    try {
      areWritten = await this.#request(all.map(({ outcome }) => outcome));
    } catch (error) {
      for (const each of all) void this.#writeAlone(each, error);
      return;
    }
    this.#pending -= all.length;
    for (const [i, { outcome }] of all.entries()) this.#onEnd(eventOf(outcome, areWritten[i]));
  }

  /** @param failure - that of the request with others */
  async #writeAlone({ held, outcome }: HeldOutcome, failure: unknown): Promise<void> {
    let event: OutboxEvent;
    try {
      if (outcome.type === "released") throw failure;
      report({ type: "error", error: failure }, this.#options);
      event = eventOf(outcome, await this.#repeat(held, outcome));
    } catch (error) {
      event = { type: "unwritten", claim: held.claim, error };
    }
    this.#pending--;
    this.#onEnd(event);
  }

  async #repeat(held: HeldClaim, outcome: Outcome): Promise<boolean | undefined> {
    const { clock, random, storeTimeout } = this.#options;
    const signal = this.#signal;
    const backoff = new Backoff({ ...WRITE_AGAIN, random });
    const request = async (): Promise<boolean | undefined> => (await this.#request([outcome]))[0];
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

function eventOf(outcome: Outcome, isWritten: boolean | undefined): OutboxEvent {
  const { type, claim } = outcome;
  if (isWritten !== true) return { type: "lost", claim };
  if (type !== "failed") return { type, claim };
  const { failure } = outcome;
  return { type: failure.dueAt === undefined ? "dead" : "failed", claim, failure };
}
