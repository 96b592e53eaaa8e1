import { realClock } from "@holdfast/clock";
import { seededRandom } from "@holdfast/wait/strategies";
import { type ExploreOptions, type ResolvedExplore, resolveExplore } from "./explore-options.ts";
import {
  expectationOf,
  goalOf,
  isAsIn,
  isAsLate,
  type Reference,
  verdictOn,
  type WorldEnd,
} from "./judge.ts";
import { effectiveOf, lateAs, orderedAs, type Schedule } from "./order.ts";
import {
  AT_REST,
  beginsOld,
  drawPairs,
  drawPlans,
  type Fault,
  type FirstFault,
  faultsAfter,
  faultsOf,
  type Places,
  type Plan,
  planName,
  typeOf,
  upgradesOf,
  upgradesWithFaults,
} from "./plan.ts";
import { runReference } from "./reference.ts";
import {
  type ExplorationReport,
  type OpenReport,
  openReport,
  wrongWith,
  wrongWithout,
} from "./report.ts";
import { World } from "./world.ts";

/** Milliseconds after which the last change of the users has come to the program. */
const SECOND = 1_000;

/** Worlds with two faults, as far as the number of worlds allows. */
const DEFAULT_PAIRS = 100;

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
 * import { explore, type ExplorationError } from "@holdfast/explore";
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
  const end = realClock.monotonic() + resolved.time;
  const reference = await runReference(resolved, "new");
  const old = resolved.upgradeFrom === undefined ? undefined : await runReference(resolved, "old");
  const exploration = new Exploration(resolved, reference, old);
  return await exploration.run(() => realClock.monotonic() < end);
}

/** The worlds with faults, each judged by the run without one. */
class Exploration<Outside> {
  readonly #options: ResolvedExplore<Outside>;
  readonly #goals: { readonly reference: Reference; readonly old: Reference | undefined };
  readonly #singles: readonly Fault[];
  readonly #report: OpenReport;

  /** The worlds with one fault so far, for second faults. */
  readonly #firsts: FirstFault[] = [];

  /** The runs without a fault so far, by schedule. */
  readonly #healthy = new Map<string, Promise<WorldEnd>>();

  constructor(options: ResolvedExplore<Outside>, reference: Reference, old: Reference | undefined) {
    const { without } = options;
    this.#options = options;
    this.#goals = { reference, old };
    const upgrades =
      old === undefined ? [] : upgradesOf({ old: old.steps, current: reference.steps }, without);
    this.#singles = [...upgrades, ...faultsOf(reference, without)];
    this.#report = openReport(reference, this.#singles.length);
  }

  /** @param hasTime - whether another world may begin */
  async run(hasTime: () => boolean): Promise<ExplorationReport> {
    const { only, logger } = this.#options;
    const report = this.#report;
    if (only === undefined) await this.#all(() => report.worlds === 0 || hasTime());
    else await this.#only(only);
    const { worlds, notRun, simulated } = report;
    if (worlds === 0)
      throw wrongWithout(["no world was run: options.without leaves out every fault"]);
    if (Object.keys(notRun).length > 0)
      logger.warn({ worlds, notRun }, "exploration ended before all worlds were run");
    return { ...report, simulated: Math.round(simulated) };
  }

  async #all(hasTime: () => boolean): Promise<void> {
    const { worlds, pairs, seed, without } = this.#options;
    const random = seededRandom(seed);
    const room = (): number => Math.max(0, worlds - this.#report.worlds);
    const some = async (plans: readonly Plan[]): Promise<void> => {
      const left = new Set(plans);
      for (const plan of drawPlans(plans, { count: room(), random })) {
        if (!hasTime()) break;
        await this.#judged(plan);
        left.delete(plan);
      }
      for (const plan of left) this.#skip(typeOf(plan));
    };
    await some(this.#singles.map((fault) => [fault]));
    await some(upgradesWithFaults(this.#firsts, without));
    let left = pairs ?? Math.min(DEFAULT_PAIRS, room());
    const { steps } = this.#goals.reference;
    const drawn = drawPairs(this.#firsts, steps, without, { count: left, random });
    for (const plan of drawn) {
      if (!hasTime()) return this.#skip("pairs", left);
      await this.#judged(plan);
      left -= 1;
    }
  }

  #skip(type: string, count = 1): void {
    const { notRun } = this.#report;
    notRun[type] = (notRun[type] ?? 0) + count;
  }

  /** Runs the world that the option `only` names. */
  async #only(only: string): Promise<void> {
    const named = (name: string, faults: readonly Fault[]): Fault => {
      const fault = faults.find((one) => planName([one]) === name);
      if (fault === undefined) throw unknownWorld(only, this.#singles);
      return fault;
    };
    const [first = "", second] = only.split("+");
    const fault = named(first, this.#singles);
    if (second === undefined) return void (await this.#judged([fault]));
    const places = this.#placesOf(await this.#run([fault]));
    const other = named(second, faultsAfter(fault, places, this.#options.without));
    await this.#judged([fault, other]);
  }

  #run(plan: Plan, schedule?: Schedule): Promise<WorldEnd> {
    const { instants } = this.#goals.reference;
    const isExpected = expectationOf(goalOf(plan, this.#goals), this.#options.expect);
    const version = beginsOld(plan) ? "old" : "new";
    const course = { plan, instants, isExpected, version, checks: "state" } as const;
    return new World(this.#options, schedule ? { ...course, schedule } : course).run();
  }

  /** @throws ExplorationError if the world ends in another way than the reference */
  async #judged(plan: Plan): Promise<void> {
    const end = await this.#run(plan);
    const { expect, pairs } = this.#options;
    const goal = goalOf(plan, this.#goals);
    const verdict = verdictOn(end, goal, expect);
    const { instants } = this.#goals.reference;
    if (verdict.lines.length > 0 && !(await this.#isOfOrder(end, goal)))
      throw wrongWith(plan, end, verdict, instants);
    const { faults } = this.#report;
    this.#report.worlds += 1;
    this.#report.simulated += end.duration;
    for (const { type } of end.journal.fired) faults[type] = (faults[type] ?? 0) + 1;
    const [fault, second] = plan as readonly [Fault, Fault?];
    if (second === undefined && (pairs !== 0 || fault.type.endsWith(AT_REST)))
      this.#firsts.push({ fault, places: this.#placesOf(end) });
  }

  /** Whether the fault explains nothing: a run without it ends so too, if its reconciles begin in another order. */
  async #isOfOrder(end: WorldEnd, goal: Reference): Promise<boolean> {
    const { expect, upgradeFrom } = this.#options;
    if (expect !== "same" || upgradeFrom !== undefined) return false;
    const rest = end.played + SECOND;
    for (const effective of effectiveOf(end.attempts)) {
      const late = (from: number): Promise<WorldEnd> =>
        this.#healthyAs(lateAs(effective, { rest, from }));
      const ordered = await this.#healthyAs(orderedAs(effective, goal.attempts));
      if (isAsIn(end, ordered, goal)) return true;
      if (isAsLate(end, await late(goal.lateFrom), goal, "any")) return true;
      if (isAsLate(end, await late(0), goal, "wholes")) return true;
    }
    return false;
  }

  #healthyAs(schedule: Schedule): Promise<WorldEnd> {
    const key = JSON.stringify({ ...schedule, begins: [...schedule.begins] });
    const known = this.#healthy.get(key) ?? this.#run([], schedule);
    this.#healthy.set(key, known);
    return known;
  }

  /** Where a second fault can meet a world. */
  #placesOf({ journal: { busySteps: steps, restStep } }: WorldEnd): Places {
    return { steps, instants: this.#goals.reference.instants, hasStart: false, restStep };
  }
}

function unknownWorld(only: string, singles: readonly Fault[]): RangeError {
  return new RangeError(
    `options.only must name worlds of this program, such as ${JSON.stringify(planName(singles.slice(0, 1)))}, got ${JSON.stringify(only)}`,
  );
}
