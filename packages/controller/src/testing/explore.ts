import { seededRandom } from "@holdfast/wait";
import { differenceOf } from "./difference.ts";
import { describeFault, type ExplorationError, explorationError } from "./exploration-error.ts";
import {
  type ExploreOptions,
  type ResolvedExplore,
  resolveExplore,
  textOf,
} from "./explore-options.ts";
import {
  drawFaults,
  type Fault,
  faultsAfter,
  faultsOf,
  HAND_OVER,
  type Places,
  type Plan,
  planName,
} from "./plan.ts";
import { type Outcome, Trial, type TrialOptions } from "./trial.ts";

/** The result of an exploration that has found nothing. The same seed gives the same report. */
export interface ExplorationReport {
  /** Number of worlds with faults that were run. */
  readonly worlds: number;

  /** Number of worlds that there are with one fault. */
  readonly planned: number;

  /** Number of faults of each type that have happened. */
  readonly faults: Readonly<Record<string, number>>;

  /** Steps of the run without a fault, up to its last change. */
  readonly steps: readonly string[];

  /** Timers of the run without a fault that were due after `longestTimer`, by label: nothing is known of what they do. */
  readonly left: readonly string[];

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
  return await new Exploration(resolved, await runReference(resolved)).run();
}

async function runReference<World>(options: ResolvedExplore<World>): Promise<Reference> {
  const trial: TrialOptions = { plan: [], instants: [], isExpected: () => true, checks: "all" };
  const outcome = await new Trial(options, trial).run();
  const { problem, busySteps: steps, notes } = outcome;
  const lines =
    problem === undefined ? idleness(outcome) : [problem.text, ...(problem.lines ?? [])];
  if (lines.length > 0) {
    const { cause, step = 0 } = problem ?? {};
    const all = { steps: outcome.steps, notes, step };
    throw explorationError({ fault: undefined, only: undefined, lines, ...all, cause });
  }
  const seconds = new Set<number>();
  const instants = steps.flatMap(({ at }) => {
    const isNew = !seconds.has(Math.floor(at / 1_000));
    seconds.add(Math.floor(at / 1_000));
    return isNew ? [at] : [];
  });
  return { ...outcome, steps, instants };
}

/** Says so if the program does nothing: whatever it is, every world passes then. */
function idleness({ steps }: Outcome): string[] {
  if (steps.some(({ reads, isDone = false }) => !reads && isDone)) return [];
  const refused = steps.find(({ reads }) => !reads);
  if (refused === undefined)
    return ["the program does nothing: it has no write and no call of a linked system"];
  return [
    `the program does nothing: every write was refused, ${refused.text} with ${refused.outcome}`,
  ];
}

/** The worlds with faults, compared with the reference. */
class Exploration<World> {
  readonly #options: ResolvedExplore<World>;
  readonly #reference: Reference;
  readonly #singles: readonly Fault[];
  readonly #fired: Record<string, number> = {};

  /** The worlds with one fault so far, for second faults. */
  readonly #run: { readonly fault: Fault; readonly places: Places }[] = [];
  #worlds = 0;
  #simulated: number;

  constructor(options: ResolvedExplore<World>, reference: Reference) {
    this.#options = options;
    this.#reference = reference;
    this.#singles = faultsOf(reference, options.faults);
    this.#simulated = reference.duration;
  }

  async run(): Promise<ExplorationReport> {
    const { worlds, pairs, seed, only } = this.#options;
    const random = seededRandom(seed);
    if (only !== undefined) await this.#only(only.split("+"), only);
    else {
      for (const fault of drawFaults(this.#singles, worlds, random)) await this.#single(fault);
      await this.#pairs(pairs, (count) => Math.floor(random() * count));
    }
    if (this.#worlds === 0)
      throw explorationError({
        fault: undefined,
        only: undefined,
        lines: ["no world was run: options.faults leaves out every fault"],
        steps: [],
        step: 0,
      });
    const { steps, left } = this.#reference;
    return {
      worlds: this.#worlds,
      planned: this.#singles.length,
      faults: this.#fired,
      steps: steps.map(({ text }) => text),
      left,
      simulated: Math.round(this.#simulated),
    };
  }

  async #single(fault: Fault): Promise<Places> {
    const { busySteps: steps } = await this.#judged([fault]);
    const { instants } = this.#reference;
    const places = { steps, instants, hasStart: false };
    if (this.#options.pairs > 0) this.#run.push({ fault, places });
    return places;
  }

  /** Worlds with two faults: one that was run, and one of the steps that its world had after it. */
  async #pairs(count: number, draw: (count: number) => number): Promise<void> {
    const firsts = this.#run.flatMap(({ fault, places }) => {
      const seconds = faultsAfter(fault, places, this.#options.faults);
      return seconds.length === 0 ? [] : [{ fault, seconds }];
    });
    if (firsts.length === 0) return;
    for (let pair = 0; pair < count; pair += 1) {
      const { fault, seconds } = firsts[draw(firsts.length)] as (typeof firsts)[number];
      await this.#judged([fault, seconds[draw(seconds.length)] as Fault]);
    }
  }

  async #only([first = "", second]: readonly string[], only: string): Promise<void> {
    const fault = named(first, this.#singles);
    if (fault === undefined) throw unknownWorld(only, this.#singles);
    if (second === undefined) return void (await this.#single(fault));
    const { busySteps: steps } = await this.#trial([fault]);
    const places = { ...this.#reference, steps };
    const other = named(second, faultsAfter(fault, places, this.#options.faults));
    if (other === undefined) throw unknownWorld(only, this.#singles);
    await this.#judged([fault, other]);
  }

  #trial(plan: Plan): Promise<Outcome> {
    const { instants } = this.#reference;
    const isExpected = (state: unknown): boolean =>
      this.#options.expect !== "same" || textOf(state) === this.#reference.settled;
    return new Trial(this.#options, { plan, instants, isExpected, checks: "state" }).run();
  }

  /** @throws ExplorationError if the world ends in another way than the reference */
  async #judged(plan: Plan): Promise<Outcome> {
    const outcome = await this.#trial(plan);
    const { lines, cause } = this.#verdict(outcome);
    if (lines.length > 0) throw this.#error(plan, outcome, lines, cause);
    this.#worlds += 1;
    this.#simulated += outcome.duration;
    for (const { type } of outcome.fired) this.#fired[type] = (this.#fired[type] ?? 0) + 1;
    return outcome;
  }

  /** The lines that say what is wrong with a world. */
  #verdict({ state, counts, problem }: Outcome): {
    readonly lines: readonly string[];
    readonly cause?: unknown;
  } {
    const { expect } = this.#options;
    if (problem !== undefined)
      return { lines: [problem.text, ...(problem.lines ?? [])], cause: problem.cause };
    if (expect === "same") {
      const { state: expected, counts: known } = this.#reference;
      return { lines: [...differenceOf(expected, state), ...excess(known, counts)] };
    }
    try {
      expect(state, this.#reference.state);
    } catch (cause) {
      return { lines: [`options.expect: ${(cause as Error).message}`], cause };
    }
    return { lines: [] };
  }

  #error(plan: Plan, outcome: Outcome, lines: readonly string[], cause: unknown): ExplorationError {
    const { steps: known, instants } = this.#reference;
    const { steps, notes } = outcome;
    const [first] = plan;
    const fault = plan
      .map((one) =>
        describeFault(one, one.type === HAND_OVER ? known : steps, instants[one.at - 1]),
      )
      .join("; then ");
    const step =
      first?.type === HAND_OVER ? stepAt(steps, instants[first.at - 1]) : (first?.at ?? 0);
    return explorationError({ fault, only: planName(plan), lines, steps, notes, step, cause });
  }
}

/** What has happened more often than in the reference. */
function excess(known: Outcome["counts"], counts: Outcome["counts"]): string[] {
  return [...counts].flatMap(([label, count]) => {
    const expected = known.get(label) ?? 0;
    return count > expected
      ? [`${label}: ${times(count)}, without the fault ${times(expected)}`]
      : [];
  });
}

function times(count: number): string {
  return count === 1 ? "once" : count === 0 ? "never" : `${count} times`;
}

function named(name: string, faults: readonly Fault[]): Fault | undefined {
  return faults.find((fault) => planName([fault]) === name);
}

function unknownWorld(only: string, singles: readonly Fault[]): RangeError {
  return new RangeError(
    `options.only must name worlds of this program, such as ${JSON.stringify(planName(singles.slice(0, 1)))}, got ${JSON.stringify(only)}`,
  );
}

function stepAt(steps: Outcome["steps"], instant = 0): number {
  return steps.find(({ at }) => at >= instant)?.number ?? steps.length;
}
