import { every } from "@holdfast/wait";
import { formatDuration } from "../../terminal/duration.ts";
import type { Settings } from "../options.ts";
import type { Faults } from "./faults.ts";
import type { Harness } from "./harness.ts";
import { runScript } from "./script.ts";
import type { Soak } from "./soak.ts";

/** Length of the fault script in milliseconds, in a check and in each round of a soak. */
const SCRIPT = 30_000;

const MINUTE = 60_000;

/** Interval of the page's test for quiet, in milliseconds. */
const LOOK = 1_000;

/** Interval between checks during a long quiet period, in milliseconds. */
const FRESH = 10_000;

export interface PlayOptions {
  readonly harness: Harness;
  readonly faults: Faults;
  readonly soak: Soak;
  readonly settings: Pick<Settings, "mode" | "minutes">;
}

/** Plays the faults of a check or a soak; in page mode, checks the invariants until the signal aborts. */
export async function play(options: PlayOptions): Promise<void> {
  const { harness, settings } = options;
  await settle(options);
  if (settings.mode === "page") return await watchQuiet(options);
  const end = harness.clock.monotonic() + settings.minutes * MINUTE;
  do {
    await runScript(harness, options.faults, SCRIPT);
    await settle(options);
    options.soak.sample();
  } while (harness.clock.monotonic() < end);
}

/** Checks the invariants at every quiet period: visitors may start a fault at any time. */
async function watchQuiet({ harness, faults: { signal } }: PlayOptions): Promise<void> {
  const { clock } = harness;
  let judgedAt = Number.NEGATIVE_INFINITY;
  let wasQuiet = false;
  for await (const _ of every(LOOK, { clock, signal })) {
    const { isQuiet } = harness;
    const isDue = !wasQuiet || clock.monotonic() - judgedAt > FRESH;
    if (isQuiet && isDue) {
      await harness.settle(signal);
      judgedAt = clock.monotonic();
    }
    wasQuiet = isQuiet;
  }
}

async function settle({ harness, faults }: PlayOptions): Promise<void> {
  const took = await harness.settle(faults.signal);
  if (took === undefined) return;
  harness.log.add("all", `records, caches and statuses agree after ${formatDuration(took)}`);
}
