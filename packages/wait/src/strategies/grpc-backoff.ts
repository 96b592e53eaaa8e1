import {
  above,
  between,
  finiteFrom,
  flag,
  func,
  type Kinds,
  positive,
  requireWhole,
} from "@holdfast/kit";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import {
  LONGEST_NANOSECONDS,
  toMilliseconds,
  toNanoseconds,
  toNanosecondsWithin,
} from "../delay/nanoseconds.ts";
import { defaultRandom, type Random } from "../delay/random.ts";
import { readShape } from "../delay/shape-options.ts";

export const GRPC_BACKOFF_OPTIONS: Kinds<GrpcBackoffOptions> = {
  duration: finiteFrom(0),
  factor: positive,
  jitter: between(0, 1),
  cap: above(0),
  capAfterJitter: flag,
  random: func,
};

/**
 * Options for {@link GrpcBackoff} and {@link grpcBackoff}. The defaults are those of gRPC.
 *
 * ```text
 * delay(0) = duration                                      exactly
 * delay(n) = min(duration × factor^n, cap) × (1 + jitter × (2 × random() - 1))
 * ```
 *
 * | `n` | Delay with the defaults |
 * | --- | --- |
 * | 0 | 1000 |
 * | 1 | 1280 to 1920 |
 * | 2 | 2048 to 3072 |
 * | 10 | 87,961 to 131,941 |
 * | 11 … | 96,000 to 144,000 |
 */
export interface GrpcBackoffOptions {
  /**
   * First delay in milliseconds. Finite, at least 0. It has no jitter, and `cap` limits it only with
   * `capAfterJitter`.
   *
   * @defaultValue `1_000`
   */
  readonly duration?: number | undefined;

  /**
   * Growth of the delay before jitter: each is `factor` times the previous one. Finite, above 0.
   *
   * @defaultValue `1.6`
   */
  readonly factor?: number | undefined;

  /**
   * Maximum random change of a delay, up or down, as a share of it. From 0 to 1.
   *
   * @defaultValue `0.2`
   */
  readonly jitter?: number | undefined;

  /**
   * Delay at which growth ends, in milliseconds, before jitter unless `capAfterJitter` is set.
   * Above 0, or `Infinity`.
   *
   * @defaultValue `120_000`
   */
  readonly cap?: number | undefined;

  /**
   * Whether `cap` limits every delay with its jitter, the first delay included.
   *
   * Growth then ends at `cap / (1 + jitter)`, so that the last delays are still spread, below the
   * cap.
   *
   * @defaultValue `false`, as in gRPC: a delay can reach `cap × (1 + jitter)`
   */
  readonly capAfterJitter?: boolean | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** {@link GrpcBackoffOptions}, checked, in nanoseconds. */
interface Shape {
  readonly first: number;
  readonly factor: number;
  readonly share: number;
  /** Delay before jitter at which growth ends. */
  readonly limit: number;
  /** Maximum delay. */
  readonly max: number;
  readonly random: Random;
}

function shapeOf(options: GrpcBackoffOptions, door: string): Shape {
  const {
    duration = 1_000,
    factor = 1.6,
    jitter = 0.2,
    cap = 120_000,
    capAfterJitter = false,
    random = defaultRandom,
  } = readShape("options", options, door, GRPC_BACKOFF_OPTIONS);
  const first = toNanoseconds(duration);
  if (!capAfterJitter) {
    return {
      first,
      factor,
      share: jitter,
      limit: toNanoseconds(cap),
      max: LONGEST_NANOSECONDS,
      random,
    };
  }
  const max = toNanosecondsWithin(cap);
  const limit = max / (1 + jitter);
  return { first: Math.min(first, limit), factor, share: jitter, limit, max, random };
}

function spread(base: number, { share, limit, max, random }: Shape): number {
  const drawn = Math.min(base, limit) * (1 + share * (random() * 2 - 1));
  return toMilliseconds(Math.min(Math.floor(drawn), max));
}

/**
 * Computes a delay of gRPC's connection backoff.
 *
 * @param retries - number of failures in a row before the last one: a whole number, at least 0. 0
 * returns `duration` without jitter
 * @param options - see {@link GrpcBackoffOptions}
 * @returns milliseconds
 * @throws RangeError or TypeError if an argument is out of its range
 *
 * Source: the gRPC Connection Backoff Protocol, and `Exponential.Backoff` of grpc-go, equal to the
 * nanosecond. Its first delay has no jitter either.
 *
 * @example
 * ```ts
 * import { grpcBackoff } from "@holdfast/wait/strategies";
 *
 * const random = () => 0.5; // the mean of Math.random
 * console.log(grpcBackoff(0), grpcBackoff(1, { random }), grpcBackoff(2, { random }));
 * // => 1000 1600 2560
 * console.log(grpcBackoff(99, { random }), grpcBackoff(99, { random: () => 0 }));
 * // => 120000 96000
 * ```
 */
export function grpcBackoff(retries: number, options: GrpcBackoffOptions = {}): number {
  requireWhole("retries", retries, 0);
  const shape = shapeOf(options, "grpcBackoff");
  if (retries === 0) return toMilliseconds(Math.floor(shape.first));
  let base = shape.first;
  // Step by step, as in Go. A step without an effect ends the loop: no later step has one.
  for (let n = 0; n < retries && base < shape.limit; n++) {
    const grown = base * shape.factor;
    if (grown === base) break;
    base = grown;
  }
  return spread(base, shape);
}

/**
 * gRPC's connection backoff as a strategy: the delays of {@link grpcBackoff} for 0, 1, 2 and so on.
 *
 * The strategy is only the delays of the protocol. `connectWithBackoff` and `keepConnected` implement
 * the rest: time spent connecting counts as delay, and an accepted connection resets the delays.
 *
 * Source: the gRPC Connection Backoff Protocol, and `Exponential.Backoff` of grpc-go.
 *
 * @example
 * ```ts
 * import { GrpcBackoff } from "@holdfast/wait/strategies";
 *
 * const next = new GrpcBackoff({ jitter: 0 }).delayFunc();
 * console.log(next(), next(), next(), next()); // => 1000 1600 2560 4096
 * ```
 */
export class GrpcBackoff implements BackoffStrategy {
  readonly #shape: Shape;

  /**
   * @param options - see {@link GrpcBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: GrpcBackoffOptions = {}) {
    this.#shape = shapeOf(options, "GrpcBackoff");
  }

  /**
   * Starts a new sequence at the first delay.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    const shape = this.#shape;
    let base: number | undefined;
    return () => {
      if (base === undefined) {
        base = shape.first;
        return toMilliseconds(Math.floor(base));
      }
      if (base < shape.limit) base *= shape.factor;
      return spread(base, shape);
    };
  }
}
