import { FakeClock } from "@holdfast/clock/testing";
import { type BackoffStrategy, backoffUntil } from "@holdfast/wait";
import { backoffManager } from "@holdfast/wait/loop";
import { SymmetricJitterBackoff } from "@holdfast/wait/strategies";
import { EXPONENTIAL_FIELDS, type GoExponential, Limits, settingsOf } from "../go-exponential.ts";
import { type GoInt, toMilliseconds, toNanoseconds } from "../nanoseconds.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

interface RetryCase {
  readonly in: GoExponential & {
    readonly results: readonly string[];
    readonly opTime: GoInt;
    readonly cancelAt?: GoInt;
  };
  readonly out: {
    readonly calls: readonly GoInt[];
    readonly notify: readonly GoInt[];
    readonly endedAt: GoInt;
    readonly err: string;
    readonly u: readonly number[];
  };
  readonly race: boolean;
}

/** `RetryNotify`: a loop over the strategy that ends with a success, an error or a limit. */
export const retries: Section<RetryCase> = {
  file: "cenkalti.json",
  name: "retry",
  fields: [
    ...EXPONENTIAL_FIELDS,
    "id",
    "in.results",
    "in.opTime",
    "in.cancelAt",
    "out.calls",
    "out.notify",
    "out.endedAt",
    "out.err",
    "out.u",
    "race",
  ],
  unseen: {},
  rules: [],

  recorded: ({ out: { u, ...out } }) => fieldsOf({ draws: u.length, ...out }),

  predict: (_kase, recorded) => recorded,

  async replay(kase) {
    const clock = new FakeClock();
    const run = new RetryRun(kase, clock);
    const { cancelAt } = kase.in;
    if (cancelAt !== undefined) clock.afterFunc(toMilliseconds(cancelAt), () => run.stop.abort());
    const err = await clock.run(() => run.end());
    return { ...run.seen(), err };
  },
};

/** What an operation that is not to be tried again fails with. */
class Permanent extends Error {}

/** What no loop is to take for a failed operation. */
class UnknownResult extends Error {}

/** One call of `RetryNotify`, and what it shows of itself. */
class RetryRun {
  readonly stop = new AbortController();
  readonly #case: RetryCase;
  readonly #clock: FakeClock;
  readonly #start: number;
  readonly #limits: Limits;
  readonly #uniforms: Uniforms;
  readonly #calls: bigint[] = [];
  readonly #notify: bigint[] = [];
  #succeeded = false;

  constructor(kase: RetryCase, clock: FakeClock) {
    this.#case = kase;
    this.#clock = clock;
    this.#start = clock.monotonic();
    this.#limits = new Limits(kase.in);
    this.#uniforms = new Uniforms(kase.out.u);
  }

  /** How it ended, in Go's words. */
  async end(): Promise<string> {
    const manager = backoffManager(this.#strategy(), { clock: this.#clock });
    const onError = (error: unknown) => {
      if (error instanceof Permanent || error instanceof UnknownResult) throw error;
    };
    try {
      await backoffUntil(() => this.#operate(), manager, true, this.stop.signal, { onError });
      return this.#succeeded ? "nil" : "canceled";
    } catch (error) {
      if (error instanceof UnknownResult) throw error;
      return error instanceof Permanent ? "permanent" : "op";
    }
  }

  seen(): Fields {
    const draws = BigInt(this.#uniforms.drawn);
    return { draws, calls: this.#calls, notify: this.#notify, endedAt: this.#now() };
  }

  async #operate(): Promise<void> {
    const { results, opTime } = this.#case.in;
    const result = results[Math.min(this.#calls.length, results.length - 1)];
    this.#calls.push(this.#now());
    if (Number(opTime) > 0) await this.#clock.sleep(toMilliseconds(opTime));
    switch (result) {
      case "ok":
        this.#succeeded = true;
        return this.stop.abort();
      case "fail":
        throw new Error("failed");
      case "perm":
        throw new Permanent();
      default:
        throw new UnknownResult(`unknown result ${result}`);
    }
  }

  /** The delays of the case within its limits; beyond them it throws, and the loop ends. */
  #strategy(): BackoffStrategy {
    const random = this.#uniforms.next;
    const next = new SymmetricJitterBackoff({ ...settingsOf(this.#case.in), random }).delayFunc();
    return {
      delayFunc: () => () => {
        if (this.stop.signal.aborted) return 0;
        if (!this.#limits.takeRetry()) throw new Error("no retries left");
        const delay = next();
        this.#limits.elapsed = Number(this.#now());
        if (!this.#limits.hasTimeFor(Number(toNanoseconds(delay)))) throw new Error("no time left");
        this.#notify.push(toNanoseconds(delay));
        return delay;
      },
    };
  }

  #now(): bigint {
    return toNanoseconds(this.#clock.monotonic() - this.#start);
  }
}
