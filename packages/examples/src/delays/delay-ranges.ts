import type { BackoffStrategy, Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";

/** Makes a strategy with a source of randomness. */
export type StrategyOf = (random: Random) => BackoffStrategy;

/** One delay of a strategy, in milliseconds. */
export interface DelayRange {
  /** Shortest delay that randomness allows. */
  readonly low: number;
  /** Longest delay that randomness allows. */
  readonly high: number;
  /** Delay in the run of one seed. */
  readonly drawn: number;
}

/** The largest number that a source of randomness returns. */
const HIGHEST = 1 - 2 ** -32;

/** The first delays of a strategy: the range of each, and the run of one seed. */
export function delayRangesOf(strategyOf: StrategyOf, count: number, seed: number): DelayRange[] {
  const delays = (random: Random): number[] => {
    const next = strategyOf(random).delayFunc();
    return Array.from({ length: count }, () => next());
  };
  const lows = delays(() => 0);
  const highs = delays(() => HIGHEST);
  return delays(seededRandom(seed)).map((drawn, index) => ({
    low: lows[index] ?? 0,
    high: highs[index] ?? 0,
    drawn,
  }));
}
