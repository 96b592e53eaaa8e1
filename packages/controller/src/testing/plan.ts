import type { Random } from "@holdfast/wait";
import type { Step } from "./step.ts";

/** A fault of a world: what happens, and where. */
export interface Fault {
  /** Type of the fault, for example `crash-after`. */
  readonly type: string;
  /** Number of the step that it meets; for a hand-over, the number of its instant. */
  readonly at: number;
}

/** The faults of one world, first to last. */
export type Plan = readonly Fault[];

/** Name of a plan, as the option `only` takes it: `crash-after:4`, or two with a plus between them. */
export function planName(plan: Plan): string {
  return plan.map(({ type, at }) => `${type}:${at}`).join("+");
}

/** The parts of a reference run in which faults can happen. */
export interface Places {
  readonly steps: readonly Step[];
  /** Instants at which something happened, each in another second. */
  readonly instants: readonly number[];
  /** Types of the faults that happen at an instant. */
  readonly instantFaults: readonly string[];
}

/** Every single fault: by step, then by type, then the hand-overs. */
export function singlePlans(places: Places, without: readonly string[]): Plan[] {
  const { steps, instants, instantFaults } = places;
  const ofSteps = steps.flatMap(({ number, faults }) =>
    faults.map((type) => ({ type, at: number })),
  );
  const ofInstants = instants.flatMap((_, index) =>
    instantFaults.map((type) => ({ type, at: index + 1 })),
  );
  return [...ofSteps, ...ofInstants]
    .filter(({ type }) => !without.includes(type))
    .map((fault) => [fault]);
}

/** At most `count` of the plans, of all types alike, in their order. */
export function drawPlans(plans: readonly Plan[], count: number, random: Random): Plan[] {
  if (plans.length <= count) return [...plans];
  const byType = new Map<string, number[]>();
  for (const [index, [fault]] of plans.entries()) {
    const type = fault?.type ?? "";
    byType.set(type, [...(byType.get(type) ?? []), index]);
  }
  const drawn = new Set<number>();
  const groups = [...byType.values()];
  while (drawn.size < count)
    for (const group of groups) {
      if (group.length === 0 || drawn.size === count) continue;
      const [index] = group.splice(Math.floor(random() * group.length), 1);
      drawn.add(index as number);
    }
  return [...drawn].sort((a, b) => a - b).map((index) => plans[index] as Plan);
}

/** Drawn pairs of single faults, the earlier one first. */
export function drawPairs(singles: readonly Plan[], count: number, random: Random): Plan[] {
  if (singles.length < 2) return [];
  return Array.from({ length: count }, () => {
    const first = Math.floor(random() * (singles.length - 1));
    const second = first + 1 + Math.floor(random() * (singles.length - first - 1));
    return [...(singles[first] as Plan), ...(singles[second] as Plan)];
  });
}
