import { inject } from "vitest";

/** Of many cases one in `every`, from one on that the seed draws; all of them for `npm run test:all`. */
export function drawn<T>(cases: readonly T[], every: number): readonly T[] {
  if (inject("isAll") || cases.length < 2 * every) return cases;
  return cases.filter((_, index) => (index + inject("seed")) % every === 0);
}
