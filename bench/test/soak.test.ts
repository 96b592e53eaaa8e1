import { expect, it } from "vitest";
import { memoryOf } from "../soak/program.mjs";

const MB = 1e6;

/** Sixty samples of a process whose figures change by so many bytes from the end of the warm-up to the end of the run. */
const samples = ({ heap = 0, rss = 0 }) =>
  Array.from({ length: 60 }, (_, i) => {
    const late = i < 15 ? 0 : Math.ceil((i - 14) / 15) / 3;
    return { heap: 100 * MB + heap * late, rss: 300 * MB + rss * late };
  });

it("calls memory flat that rises during the warm-up alone, or within the noise", () => {
  expect(memoryOf(samples({})).problems).toEqual([]);
  expect(memoryOf(samples({ heap: 8 * MB, rss: 40 * MB })).problems).toEqual([]);
  const warmUp = samples({}).map((one, i) => (i < 15 ? { heap: MB, rss: 900 * MB } : one));
  expect(memoryOf(warmUp).problems).toEqual([]);
});

it("names the figure that grows, from the first third after the warm-up to the last one", () => {
  expect(memoryOf(samples({ heap: 15 * MB })).problems).toEqual([
    "heap grew from 105.0 MB to 115.0 MB",
  ]);
  expect(memoryOf(samples({ rss: 120 * MB })).problems).toEqual([
    "rss grew from 340.0 MB to 420.0 MB",
  ]);
});

it("calls no run flat that was too short to tell", () => {
  expect(memoryOf(samples({}).slice(0, 7)).problems).toEqual(["7 samples are too few"]);
});
