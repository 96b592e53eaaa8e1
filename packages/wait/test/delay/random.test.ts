import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { describe, expect, it } from "vitest";

const take = (count: number, random: Random) => Array.from({ length: count }, random);

/** Pearson's chi-squared statistic over equally likely bins. */
function chiSquare(bins: readonly number[]): number {
  const expected = bins.reduce((sum, count) => sum + count, 0) / bins.length;
  return bins.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

function histogram(size: number, count: number, draw: (index: number) => number): number[] {
  const bins = new Array<number>(size).fill(0);
  for (let i = 0; i < count; i++) {
    const bin = draw(i);
    bins[bin] = (bins[bin] as number) + 1;
  }
  return bins;
}

describe("seededRandom", () => {
  // From the C source of PractRand's sfc32 with a 64-bit seed whose upper half is 0.
  it.each([
    { seed: 0, words: [1363572419, 145230303, 808754475, 4216505632] },
    { seed: 1, words: [2012149540, 1872316204, 1707632675, 1779833415] },
    { seed: 42, words: [1264412219, 1947509147, 3919439299, 1251167922] },
    { seed: 2 ** 31, words: [1099725179, 1176841389, 3419859881, 3422704399] },
    { seed: 2 ** 32 - 1, words: [1984736529, 3747275468, 1287205723, 2021412065] },
  ])("returns the numbers of sfc32 for seed $seed", ({ seed, words }) => {
    expect(take(4, seededRandom(seed))).toEqual(words.map((word) => word / 2 ** 32));
  });

  it.each([
    { seed: 1.9, same: 1 },
    { seed: -1, same: 2 ** 32 - 1 },
    { seed: 2 ** 32 + 42, same: 42 },
    { seed: Number.MAX_SAFE_INTEGER, same: -1 },
  ])("uses the lower 32 bits of the seed: $seed equals $same", ({ seed, same }) => {
    expect(take(4, seededRandom(seed))).toEqual(take(4, seededRandom(same)));
  });

  it("returns an independent sequence from each call", () => {
    const first = seededRandom(5);
    const expected = take(20, seededRandom(5));
    const mixed = [first(), first()];
    const second = seededRandom(5);
    expect(take(20, second)).toEqual(expected);
    expect([...mixed, ...take(18, first)]).toEqual(expected);
  });

  it("returns different sequences for different seeds", () => {
    const sequences = Array.from({ length: 1000 }, (_, seed) => seededRandom(seed)());
    expect(new Set(sequences).size).toBe(1000);
  });

  it("stays in [0, 1)", () => {
    const random = seededRandom(3);
    let outside = 0;
    for (let i = 0; i < 1e6; i++) {
      const draw = random();
      if (!(draw >= 0 && draw < 1)) outside++;
    }
    expect(outside).toBe(0);
  });

  // With 99 and 255 degrees of freedom, 998 of 1000 honest sources lie within these bounds.
  it.each([1, 2, 3])("is uniform, from seed %i", (seed) => {
    const random = seededRandom(seed);
    const sum = chiSquare(histogram(100, 100_000, () => Math.floor(random() * 100)));
    expect(sum).toBeGreaterThan(61.1);
    expect(sum).toBeLessThan(148.3);
  });

  it.each([1, 2, 3])("is uniform in pairs, from seed %i", (seed) => {
    const random = seededRandom(seed);
    const pair = () => Math.floor(random() * 16) * 16 + Math.floor(random() * 16);
    const sum = chiSquare(histogram(256, 100_000, pair));
    expect(sum).toBeGreaterThan(190.8);
    expect(sum).toBeLessThan(330.6);
  });

  it("is uniform across the first draws of neighbouring seeds", () => {
    const sum = chiSquare(histogram(100, 20_000, (seed) => Math.floor(seededRandom(seed)() * 100)));
    expect(sum).toBeGreaterThan(61.1);
    expect(sum).toBeLessThan(148.3);
  });
});
