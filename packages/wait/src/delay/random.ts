import { requireFinite } from "@holdfast/kit";

/**
 * A source of randomness: a function that returns a number in [0, 1), as `Math.random` does.
 *
 * Every random delay takes one as an option, so that a test or a simulation can repeat a run.
 */
export type Random = () => number;

/** The default source. It looks up `Math.random` at each draw, so a stub of it works. */
export const defaultRandom: Random = () => Math.random();

/**
 * A source of randomness that returns the same numbers for the same seed, on every machine.
 *
 * Use it for tests, simulations and reproducible jitter, never for secrets. It has a period of at
 * least 2^32 and 32 random bits per number.
 *
 * @param seed - any finite number; only its lower 32 bits are used
 * @returns a {@link Random}
 * @throws RangeError if `seed` is not finite, TypeError if it is not a number
 *
 * Source: sfc32 of Chris Doty-Humphrey's PractRand, seeded and warmed up as he recommends.
 *
 * @example
 * ```ts
 * import { seededRandom } from "@holdfast/wait/strategies";
 *
 * const first = seededRandom(42);
 * const second = seededRandom(42);
 * console.log(first() === second(), first() === first()); // => true false
 * ```
 */
export function seededRandom(seed: number): Random {
  let a = 0;
  let b = requireFinite("seed", seed) | 0;
  let c = 0;
  let counter = 1;
  const draw = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 12; i++) draw();
  return draw;
}
