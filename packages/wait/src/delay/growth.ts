import { finiteFrom, type Kinds, positive, required, whole } from "@holdfast/kit";
import type { BackoffOptions } from "./backoff-options.ts";
import type { DelayFunc } from "./backoff-strategy.ts";
import { cappedJitter, SPREAD_OPTIONS } from "./capped-jitter.ts";
import { toMilliseconds, toNanoseconds } from "./nanoseconds.ts";
import { defaultRandom, type Random } from "./random.ts";
import { readShape } from "./shape-options.ts";

export const BACKOFF_OPTIONS: Kinds<BackoffOptions> = {
  duration: required(finiteFrom(0)),
  factor: positive,
  steps: whole(0),
  ...SPREAD_OPTIONS,
};

/** A growing delay at one moment: {@link BackoffOptions}, in nanoseconds. */
export interface GrowthState {
  /** The next delay before its jitter. */
  readonly base: number;
  /** How many times it may still grow. */
  readonly steps: number;
  readonly factor: number;
  /** The base at which growth ends. */
  readonly limit: number;
  /** Applies the jitter to a base. */
  readonly jitter: (base: number) => number;
}

/** Checks options and returns the initial state. `shared` is the source of jitter of options that have none. */
export function growthState(
  name: string,
  options: BackoffOptions,
  shared: Random = defaultRandom,
): GrowthState {
  const given = readShape(name, options, "Backoff", BACKOFF_OPTIONS);
  const { duration, factor, steps = Number.POSITIVE_INFINITY } = given;
  const { limit, limitsFirst, apply } = cappedJitter(given, shared);
  const first = toNanoseconds(duration);
  const base = limitsFirst ? Math.min(first, limit) : first;
  return {
    base,
    steps,
    factor: factor ?? 1,
    limit: factor === undefined ? base : limit,
    jitter: apply,
  };
}

/** A delay that grows with each step. */
export class Growth {
  // Both begin as numbers: V8 then stores them unboxed, which halves the cost of a step (ADR 0011).
  #base = 0;
  #steps = 0;
  readonly #factor: number;
  readonly #limit: number;
  readonly #jitter: (base: number) => number;

  /** @internal */
  constructor({ base, steps, factor, limit, jitter }: GrowthState) {
    this.#base = base;
    this.#steps = steps;
    this.#factor = factor;
    this.#limit = limit;
    this.#jitter = jitter;
  }

  /**
   * The current state, from which another instance can continue.
   *
   * @internal
   */
  protected get state(): GrowthState {
    return {
      base: this.#base,
      steps: this.#steps,
      factor: this.#factor,
      limit: this.#limit,
      jitter: this.#jitter,
    };
  }

  /**
   * Returns the next delay and grows the one after it.
   *
   * @returns milliseconds
   */
  step(): number {
    const base = this.#base;
    if (this.#steps > 0) {
      const next = Math.floor(base * this.#factor);
      const reachesLimit = next > this.#limit;
      this.#base = reachesLimit ? this.#limit : next;
      this.#steps = reachesLimit ? 0 : this.#steps - 1;
    }
    return toMilliseconds(this.#jitter(base));
  }
}

/** An independent sequence of delays, in milliseconds. */
export function delaysFrom(state: GrowthState): DelayFunc {
  const growth = new Growth(state);
  return () => growth.step();
}
