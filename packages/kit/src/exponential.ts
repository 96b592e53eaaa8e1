/**
 * `first × factor^times`: the delay after a number of failures, where only the number is known. `Growth` goes step by
 * step, as Go does.
 */
export function exponential(first: number, factor: number, times: number): number {
  // 0 × Infinity would be NaN.
  return first * Math.min(power(factor, times), Number.MAX_VALUE);
}

/**
 * `base` to the power of a whole number, by repeated squaring: the last digit of `Math.pow` depends on
 * the engine and differs from Go's.
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
