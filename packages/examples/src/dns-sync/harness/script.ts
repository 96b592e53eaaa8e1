import type { Random } from "@holdfast/wait";
import type { Faults } from "./faults.ts";
import type { Harness } from "./harness.ts";

type Step = (faults: Faults, random: Random) => Promise<unknown>;

const seconds = (random: Random, least: number, most: number): number =>
  1_000 * (least + random() * (most - least));

/** The sixteen faults: each kind once, edits twice. */
const STEPS: readonly Step[] = [
  (faults) => faults.killLeader(),
  (faults) => faults.handOver(),
  (faults) => faults.staleWrite(),
  (faults, random) => faults.stopApi(seconds(random, 2, 8)),
  (faults) => faults.compact(),
  (faults, random) => faults.provider("outage", seconds(random, 2, 4)),
  (faults, random) => faults.provider("throttle", seconds(random, 1, 3), 0.5),
  (faults, random) => faults.provider("html", seconds(random, 1, 2)),
  (faults, random) => faults.provider("hang", seconds(random, 1, 2), 0.3),
  (faults, random) => faults.provider("reset", seconds(random, 1, 3), 0.3),
  (faults, random) => faults.provider("drop", seconds(random, 1, 3), 0.3),
  (faults, random) => faults.provider("slow", seconds(random, 1, 3), 0.2),
  (faults) => faults.edit(500),
  (faults) => faults.rearrange(5),
  (faults) => faults.drift(10),
  (faults) => faults.edit(100),
];

/**
 * Plays every fault once, in an order and at times chosen by `random`.
 *
 * @param duration - approximate time in which the faults start, in milliseconds
 * @returns at the end of the last fault. Rejects if one fails, for example because no replica leads
 */
export async function runScript(harness: Harness, faults: Faults, duration: number): Promise<void> {
  const { clock, random } = harness;
  const { signal } = faults;
  const steps = shuffled(STEPS, random);
  const running: Promise<unknown>[] = [];
  for (const step of steps) {
    running.push(step(faults, random));
    const gap = (duration / steps.length) * (0.5 + random());
    await Promise.race([clock.sleep(gap, { signal, label: "next fault" }), failureOf(running)]);
  }
  await Promise.all(running);
}

/** Rejects with the first rejection. Never resolves. */
async function failureOf(running: readonly Promise<unknown>[]): Promise<never> {
  await Promise.all(running);
  return await new Promise<never>(() => undefined);
}

function shuffled<Value>(values: readonly Value[], random: Random): readonly Value[] {
  const keyed = values.map((value) => ({ value, at: random() }));
  return keyed.sort((a, b) => a.at - b.at).map(({ value }) => value);
}
