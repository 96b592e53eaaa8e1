import { expect, it } from "vitest";
import { efficiency } from "../../src/ethernet/metcalfe-boggs.ts";

const slot = 16;

// A frame as long as a slot: the shortest column of the table in the paper.
it.each([
  [1, 1],
  [2, 0.5],
  [3, 0.4444],
  [4, 0.4219],
  [5, 0.4096],
  [10, 0.3874],
  [32, 0.3737],
  [64, 0.3708],
  [128, 0.3693],
  [256, 0.3686],
])("%i stations with the shortest frames reach %f", (stations, want) => {
  expect(efficiency(stations, { frame: slot, slot, propagation: slot / 2 })).toBeCloseTo(want, 4);
});

it("falls to a share that more stations do not lower", () => {
  const frame = 10 * slot;
  const limit = frame / (frame + (Math.E - 1) * slot);
  expect(efficiency(1_000_000, { frame, slot, propagation: slot / 2 })).toBeCloseTo(limit, 5);
});
