import { Backoff } from "@holdfast/wait";
import { delayRangesOf } from "./delay-ranges.ts";
import { delayPicture } from "./picture.ts";

const SEED = 8;

/** Draws the picture of the documentation. */
export function samplePicture(): string {
  const shape = { duration: 100, factor: 2, cap: 2_000, jitter: 0.5 };
  return delayPicture({
    code: "new Backoff({ duration: 100, factor: 2, cap: 2_000, jitter: 0.5 })",
    ranges: delayRangesOf((random) => new Backoff({ ...shape, random }), 8, SEED),
    cap: shape.cap,
    seed: SEED,
  });
}
