import { requireFinite } from "@holdfast/clock/internal";

/**
 * A source of chance: a function that returns a number in [0, 1), as `Math.random` does.
 *
 * Everything here that draws takes one, so that a test or a simulation can repeat a run.
 */
export type Random = () => number;

/** The source that is used where none is given. Looked up at each draw, so a stub of it works. */
export const defaultRandom: Random = () => Math.random();

/**
 * A source of chance that gives the same numbers for the same seed, on every machine.
 *
 * For tests, simulations and reproducible jitter; not for secrets. It has a period of at least 2^32
 * and 32 random bits per number, and costs less than `Math.random`.
 *
 * @param seed - any finite number; its lower 32 bits count
 * @returns a {@link Random}
 * @throws RangeError if `seed` is not finite, TypeError if it is no number
 *
 * Source: sfc32 of Chris Doty-Humphrey's PractRand, seeded and warmed up as he recommends.
 *
 * @example
 * ```ts
 * import { seededRandom } from "@holdfast/wait";
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
