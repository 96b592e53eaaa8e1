import { type DelayRange, delayRangesOf } from "../delays/delay-ranges.ts";
import { delayPicture } from "../delays/picture.ts";
import { pictureOf } from "../herd/pictures.ts";
import { type Measurement, simulate } from "../herd/simulate.ts";
import { NARROW } from "../picture/picture.ts";
import type { Settings } from "./settings.ts";
import { expressionOf, JITTERS, STRATEGIES, strategyOf } from "./shape.ts";

/** The delays that are shown. */
const COUNT = 10;
/** About two seconds of a machine; more would teach nothing new. */
const MOST_CALLS = 150_000;

/** A picture for a wide window, and one for a narrow window. */
export interface Drawing {
  readonly wide: string;
  readonly narrow: string;
}

/** The first delays, as numbers and as a picture. */
export function drawDelays({ shape, cap, scenario: { seed } }: Settings): {
  ranges: DelayRange[];
  drawing: Drawing;
} {
  const ranges = delayRangesOf((random) => strategyOf(shape, random), COUNT, seed);
  const shown = { code: expressionOf(shape), ranges, cap, seed };
  const drawing = { wide: delayPicture(shown), narrow: delayPicture({ ...shown, width: NARROW }) };
  return { ranges, drawing };
}

/** The load on a server that comes back, as a measurement and as a picture. */
export async function drawHerd(
  settings: Settings,
): Promise<{ load: Measurement; drawing: Drawing }> {
  const { shape, strategy, jitter, scenario } = settings;
  const isDecorrelated = strategy === "decorrelated";
  const form = {
    name: "playground",
    title: isDecorrelated
      ? "decorrelated jitter"
      : `${STRATEGIES[strategy].title}, jitter: ${JITTERS[jitter].title}`,
    range: isDecorrelated ? "up to factor × the last one" : JITTERS[jitter].range,
    backoff: (random: () => number) => strategyOf(shape, random),
  };
  const load = await simulate(form, scenario, MOST_CALLS);
  const run = { form, load };
  const drawing = { wide: pictureOf(run, scenario), narrow: pictureOf(run, scenario, NARROW) };
  return { load, drawing };
}
