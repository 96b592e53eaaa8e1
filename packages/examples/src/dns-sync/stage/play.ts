import { every } from "@holdfast/wait";
import { formatDuration } from "../../terminal/duration.ts";
import type { Settings } from "../options.ts";
import type { Faults } from "./faults.ts";
import { runScript } from "./script.ts";
import type { Soak } from "./soak.ts";
import type { Stage } from "./stage.ts";

/** Time in which the faults of a check begin, and of each round of a soak, in milliseconds. */
const SCRIPT = 30_000;

const MINUTE = 60_000;

/** How often quiet is looked for on a page, in milliseconds. */
const LOOK = 1_000;

/** How long a verdict of the page counts, in milliseconds. */
const FRESH = 10_000;

export interface PlayOptions {
  readonly stage: Stage;
  readonly faults: Faults;
  readonly soak: Soak;
  readonly settings: Pick<Settings, "mode" | "minutes">;
}

/** Lets a run take its course: until the signal of the faults aborts, or until the faults are over. */
export async function play(options: PlayOptions): Promise<void> {
  const { stage, settings } = options;
  await settle(options);
  if (settings.mode === "page") return await watchQuiet(options);
  const end = stage.clock.monotonic() + settings.minutes * MINUTE;
  do {
    await runScript(stage, options.faults, SCRIPT);
    await settle(options);
    options.soak.sample();
  } while (stage.clock.monotonic() < end);
}

/** On a page anybody may disturb the quiet at any time. */
async function watchQuiet({ stage, faults: { signal } }: PlayOptions): Promise<void> {
  const { clock } = stage;
  let judgedAt = Number.NEGATIVE_INFINITY;
  let wasQuiet = false;
  for await (const _ of every(LOOK, { clock, signal })) {
    const { isQuiet } = stage;
    const isDue = !wasQuiet || clock.monotonic() - judgedAt > FRESH;
    if (isQuiet && isDue) {
      await stage.settle(signal);
      judgedAt = clock.monotonic();
    }
    wasQuiet = isQuiet;
  }
}

async function settle({ stage, faults }: PlayOptions): Promise<void> {
  const took = await stage.settle(faults.signal);
  if (took === undefined) return;
  stage.chronicle.log("all", `records, caches and statuses agree after ${formatDuration(took)}`);
}
