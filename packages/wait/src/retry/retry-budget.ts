import { type Clock, realClock } from "@holdfast/clock";
import { type Kinds, methods, notNegative, positive, read } from "@holdfast/kit";

export const RETRY_BUDGET_OPTIONS: Kinds<RetryBudgetOptions> = {
  share: notNegative,
  minPerSecond: notNegative,
  window: positive,
  clock: methods("monotonic"),
};

/** A window is counted in so many parts: the oldest is forgotten when a new one begins. */
const PARTS = 10;

/** Options for a {@link RetryBudget}. */
export interface RetryBudgetOptions {
  /**
   * Retries per call, over the window. At least 0; 0.1 is one retry for ten calls.
   *
   * @defaultValue `0.1`
   */
  readonly share?: number | undefined;

  /**
   * Retries per second that are allowed even if they exceed the share, over the window: a program that makes few calls may
   * retry them. At least 0.
   *
   * @defaultValue `1`
   */
  readonly minPerSecond?: number | undefined;

  /**
   * Time over which calls and retries are counted, in milliseconds, in ten equal parts. Above 0, finite.
   *
   * @defaultValue `10_000`
   */
  readonly window?: number | undefined;

  /**
   * Measures the window.
   *
   * @defaultValue the clock of the first `retry` that uses the budget; `realClock` for one that is used alone
   */
  readonly clock?: Clock | undefined;
}

/** Counts of a {@link RetryBudget}, over its window. */
export interface RetryBudgetStatus {
  /** Number of calls. */
  readonly calls: number;
  /** Number of retries, those included that wait for their delay. */
  readonly retries: number;
  /** Maximum number of retries. */
  readonly limit: number;
  /** Number of retries that were refused since the budget was made. */
  readonly refused: number;
}

/** A retry that was allowed, and not made yet. */
export interface RetryReservation {
  /** Returns it to the budget: it is not made. A second call does nothing. */
  giveBack(): void;
}

/** Calls and retries in a part of the window. */
interface Part {
  readonly number: number;
  calls: number;
  retries: number;
}

/**
 * Limits retries to a share of calls, over all calls that share it: pass it to `retry` as `budget`.
 *
 * If a service fails, each of its callers retries, and it receives several times its load. With a budget, it receives at most
 * `1 + share` times as many requests as there are calls.
 *
 * ```text
 * retries in the window ≤ max(share × calls in the window, minPerSecond × window)
 * ```
 *
 * | Event | Effect |
 * | --- | --- |
 * | a `retry` makes its first attempt | counts as a call |
 * | an attempt fails, and the budget allows a retry | the retry is reserved, before hooks and delay |
 * | an attempt fails, and the budget is spent | `retry` rejects with the error unchanged, without a delay; no hook is called |
 * | the retry is not made: a hook, a limit or the signal ends the call before | it is given back |
 *
 * Make one budget for each service, because a share of the calls to one says nothing of another.
 *
 * Source: the retry budget of each client in "Handling Overload" of Site Reliability Engineering (Google, 2016): retries of
 * at most 10 % of the requests.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { retry } from "@holdfast/wait";
 * import { RetryBudget } from "@holdfast/wait/limit";
 *
 * const clock = new FakeClock(); // in production leave it out: the default is `realClock`
 * const budget = new RetryBudget({ share: 0.1, minPerSecond: 0 });
 * let requests = 0;
 * const down = () => {
 *   requests++;
 *   throw new Error("503");
 * };
 * await clock.run(() =>
 *   Promise.allSettled(Array.from({ length: 100 }, () => retry(down, { budget, clock }))),
 * );
 * console.log(requests); // => 110
 * console.log(budget.status()); // => { calls: 100, retries: 10, limit: 10, refused: 100 }
 * ```
 */
export class RetryBudget {
  readonly #share: number;
  /** Retries that are always allowed in a window. */
  readonly #min: number;
  readonly #partLength: number;
  #clock: Clock | undefined;
  /** The oldest first. */
  #parts: Part[] = [];
  #refused = 0;

  /**
   * @param options - see {@link RetryBudgetOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: RetryBudgetOptions = {}) {
    const {
      share = 0.1,
      minPerSecond = 1,
      window = 10_000,
      clock,
    } = read("options", options, "RetryBudget", RETRY_BUDGET_OPTIONS);
    this.#share = share;
    this.#min = (minPerSecond * window) / 1_000;
    this.#partLength = window / PARTS;
    this.#clock = clock;
  }

  /** Counts a call: its first attempt begins. */
  call(): void {
    this.#now().calls++;
  }

  /**
   * Reserves a retry, which then counts as made.
   *
   * @returns undefined if the budget is spent
   */
  reserve(): RetryReservation | undefined {
    const part = this.#now();
    const { retries, limit } = this.#counts();
    if (retries + 1 > limit) {
      this.#refused++;
      return undefined;
    }
    part.retries++;
    let isGivenBack = false;
    return {
      giveBack(): void {
        if (!isGivenBack) part.retries--;
        isGivenBack = true;
      },
    };
  }

  /** Its counts, as plain data. */
  status(): RetryBudgetStatus {
    this.#now();
    return { ...this.#counts(), refused: this.#refused };
  }

  /**
   * Takes the clock of a call, if it has none.
   *
   * @internal
   * @throws TypeError if it is on another one
   */
  use(clock: Clock): void {
    this.#clock ??= clock;
    if (this.#clock !== clock)
      throw new TypeError(
        "options.budget must be on the clock of the call: leave the option clock of the budget out, or pass the same clock to both",
      );
  }

  #counts(): Omit<RetryBudgetStatus, "refused"> {
    let [calls, retries] = [0, 0];
    for (const part of this.#parts) {
      calls += part.calls;
      retries += part.retries;
    }
    return { calls, retries, limit: Math.max(this.#share * calls, this.#min) };
  }

  /** The part of the window that lasts now. */
  #now(): Part {
    this.#clock ??= realClock;
    const number = Math.floor(this.#clock.monotonic() / this.#partLength);
    const last = this.#parts.at(-1);
    if (last !== undefined && last.number >= number) return last;
    const part = { number, calls: 0, retries: 0 };
    this.#parts = [...this.#parts.filter((one) => one.number > number - PARTS), part];
    return part;
  }
}
