/**
 * `base` to a power that is a whole number, by repeated squaring: `Math.pow` may differ in the last
 * digit from engine to engine, and does differ from Go's.
 */
export function power(base: number, exponent: number): number {
  let result = 1;
  let square = base;
  for (let rest = Math.min(exponent, Number.MAX_VALUE); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= square;
    square *= square;
  }
  return result;
}
