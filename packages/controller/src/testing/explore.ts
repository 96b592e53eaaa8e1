import { seededRandom } from "@holdfast/wait";
import { differenceOf } from "./difference.ts";
import { describeFault, explorationError } from "./exploration-error.ts";
import { type ExploreOptions, type ResolvedExplore, resolveExplore } from "./explore-options.ts";
import { drawPairs, drawPlans, type Plan, planName, singlePlans } from "./plan.ts";
import { type Outcome, Trial } from "./trial.ts";

/** The result of an exploration that has found nothing. The same seed gives the same report. */
export interface ExplorationReport {
  /** Number of worlds with faults that were run. */
  readonly worlds: number;

  /** Number of worlds that there are with one fault. */
  readonly planned: number;

  /** Number of worlds run with each type of fault. */
  readonly faults: Readonly<Record<string, number>>;

  /** Steps of the run without a fault, up to its last change. */
  readonly steps: readonly string[];

  /** Milliseconds that passed on the clocks of all worlds. */
  readonly simulated: number;
}

/** The run without a fault. */
interface Reference extends Outcome {
  readonly instants: readonly number[];
}

/**
 * Runs a program in many worlds, each with another fault, and compares how they end: a crash before and after each
 * call of a linked system, a lost result, a failure, a hand-over. No fault is named: a run without one finds the
 * places. Every world has a fake clock of its own. The run without a fault is checked too: the program becomes quiet,
 * holds still when it is started again, and leaves no timer.
 *
 * @param options - see {@link ExploreOptions}
 * @returns the numbers of worlds and faults. Rejects with an {@link ExplorationError} that names the first fault, shows
 * the difference and the calls around it, and tells how to run that world alone; and with a TypeError or RangeError for
 * a bad option
 *
 * @example
 * ```ts
 * import { explore, type ExplorationError } from "@holdfast/controller/testing";
 *
 * // Pays an order, then marks it. A crash between the two pays twice.
 * const problem = await explore({
 *   world: () => ({ paid: 0, isMarked: false }),
 *   async run({ world, link, signal, clock }) {
 *     const pay = link(async () => void (world.paid += 5), "pay");
 *     const mark = link(async () => void (world.isMarked = true), "mark");
 *     if (!world.isMarked) {
 *       await pay();
 *       await mark();
 *     }
 *     await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
 *   },
 *   scenario: async () => {},
 *   stateOf: ({ paid }) => ({ paid }),
 * }).catch((error: unknown) => error);
 * console.log((problem as ExplorationError).only); // => crash-after:1
 * ```
 */
export async function explore<World, State>(
  options: ExploreOptions<World, State>,
): Promise<ExplorationReport> {
  const resolved = resolveExplore(options) as ResolvedExplore<World>;
  const reference = await runReference(resolved);
  const { plans, planned } = plansOf(resolved, reference);
  const faults: Record<string, number> = {};
  let simulated = reference.duration;
  for (const plan of plans) {
    const outcome = await new Trial(resolved, plan, reference.instants).run("state");
    judge(resolved, plan, reference, outcome);
    simulated += outcome.duration;
    for (const { type } of plan) faults[type] = (faults[type] ?? 0) + 1;
  }
  const steps = reference.steps.map(({ text }) => text);
  return { worlds: plans.length, planned, faults, steps, simulated: Math.round(simulated) };
}

async function runReference<World>(options: ResolvedExplore<World>): Promise<Reference> {
  const outcome = await new Trial(options).run("all");
  const { problem, lastChange } = outcome;
  if (problem !== undefined) {
    const { text, cause, step = 0 } = problem;
    const { steps } = outcome;
    throw explorationError({
      fault: undefined,
      only: undefined,
      lines: [text],
      steps,
      step,
      cause,
    });
  }
  const steps = outcome.steps.slice(0, lastChange);
  const seconds = new Set<number>();
  const instants = steps.flatMap(({ at }) => {
    const isNew = !seconds.has(Math.floor(at / 1_000));
    seconds.add(Math.floor(at / 1_000));
    return isNew ? [at] : [];
  });
  return { ...outcome, steps, instants };
}

function plansOf<World>(
  options: ResolvedExplore<World>,
  { steps, instants }: Reference,
): { readonly plans: readonly Plan[]; readonly planned: number } {
  const { worlds, pairs, seed, only, faults } = options;
  const singles = singlePlans({ steps, instants, instantFaults: ["hand-over"] }, faults);
  if (only !== undefined) {
    const plan = only.split("+").map((name) => {
      const known = singles.flat().find((fault) => planName([fault]) === name);
      if (known !== undefined) return known;
      throw new RangeError(
        `options.only must name worlds of this program, such as ${JSON.stringify(planName(singles[0] ?? []))}, got ${JSON.stringify(only)}`,
      );
    });
    return { plans: [plan], planned: singles.length };
  }
  const random = seededRandom(seed);
  const drawn = drawPlans(singles, worlds, random);
  return { plans: [...drawn, ...drawPairs(singles, pairs, random)], planned: singles.length };
}

/** @throws ExplorationError if the world ended in another way than the reference */
function judge<World>(
  { expect }: ResolvedExplore<World>,
  plan: Plan,
  { state: expected, steps: known, instants }: Reference,
  { state, steps, problem }: Outcome,
): void {
  const [first] = plan;
  const fault = plan
    .map((one) =>
      describeFault(one, one.type === "hand-over" ? known : steps, instants[one.at - 1]),
    )
    .join("; then ");
  const step =
    first?.type === "hand-over" ? stepAt(steps, instants[first.at - 1]) : (first?.at ?? 0);
  const fail = (lines: readonly string[], cause?: unknown): never => {
    throw explorationError({ fault, only: planName(plan), lines, steps, step, cause });
  };
  if (problem !== undefined) fail([problem.text], problem.cause);
  if (expect === "same") {
    const lines = differenceOf(expected, state);
    if (lines.length > 0) fail(lines);
    return;
  }
  try {
    expect(state, expected);
  } catch (error) {
    fail([`options.expect: ${(error as Error).message}`], error);
  }
}

function stepAt(steps: Outcome["steps"], instant = 0): number {
  return steps.find(({ at }) => at >= instant)?.number ?? steps.length;
}
