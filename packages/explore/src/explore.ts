import { realClock } from "@holdfast/clock";
import { type Random, seededRandom } from "@holdfast/wait";
import { differenceOf } from "./difference.ts";
import { describeFault, type ExplorationError, explorationError } from "./exploration-error.ts";
import { type ExploreOptions, type ResolvedExplore, resolveExplore } from "./explore-options.ts";
import { beginsWithHidden, comparable, hiddenBy, type Masks, masksOf } from "./mask.ts";
import {
  AT_REST,
  addedSteps,
  drawPlans,
  type Fault,
  faultsAfter,
  faultsOf,
  HAND_OVER,
  isOfUpgrade,
  isRollBack,
  type Places,
  type Plan,
  planName,
  typeOf,
  upgradesOf,
} from "./plan.ts";
import { OTHER_BEGIN, parsed, textOf } from "./state-text.ts";
import { type Outcome, Trial, type TrialOptions } from "./trial.ts";

/** The result of an exploration that has found nothing. The same seed gives the same report. */
export interface ExplorationReport {
  /** Number of worlds with faults that were run. */
  readonly worlds: number;

  /** Number of worlds that there are with one fault. */
  readonly planned: number;

  /**
   * Numbers of worlds that were not run, because of `time` or `worlds`, by type of fault; two types with a plus between
   * them after an upgrade, and `pairs`. Empty if all were run.
   */
  readonly notRun: Readonly<Record<string, number>>;

  /** Number of faults of each type that have happened. */
  readonly faults: Readonly<Record<string, number>>;

  /** Steps of the run without a fault, up to its last change. */
  readonly steps: readonly string[];

  /** Timers of the run without a fault that were due after `longestTimer`, by label: nothing is known of what they do. */
  readonly left: readonly string[];

  /** Parts of the last state that another seed or another time changes, by path: their values are not compared. */
  readonly masked: readonly string[];

  /** Milliseconds that passed on the clocks of all worlds. */
  readonly simulated: number;
}

/** Worlds with two faults, as far as the number of worlds allows. */
const DEFAULT_PAIRS = 100;

/** The run without a fault. */
interface Reference extends Outcome {
  readonly instants: readonly number[];
  readonly masks: Masks;
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

/** The run without a fault, which must be the same each time, and differ by another seed in names and values only. */
async function runReference<World>(
  options: ResolvedExplore<World>,
  version: "old" | "new",
): Promise<Reference> {
  const outcome = await runWithout(options, version);
  requireSameCourse(outcome, await runWithout(options, version));
  const { busySteps: steps } = outcome;
  requireKnownFaults(options.without, steps);
  const seconds = new Set<number>();
  const instants = steps.flatMap(({ at }) => {
    const isNew = !seconds.has(Math.floor(at / 1_000));
    seconds.add(Math.floor(at / 1_000));
    return isNew ? [at] : [];
  });
  return { ...outcome, steps, instants, masks: await masksFor(options, outcome, version) };
}

async function runWithout<World>(
  options: ResolvedExplore<World>,
  version: "old" | "new",
): Promise<Outcome> {
  const outcome = await new Trial(options, withoutFault(version)).run();
  const { problem } = outcome;
  const lines = problem === undefined ? idleness(outcome) : [problem.text, ...problem.lines];
  if (lines.length > 0) throw wrongWithout(outcome, lines);
  return outcome;
}

function withoutFault(version: "old" | "new"): TrialOptions {
  // Nobody knows the last state yet: the program may ask for a job outside that takes its time.
  return { plan: [], instants: [], isExpected: undefined, version, checks: "all" };
}

function wrongWithout(
  { steps, notes, problem }: Outcome,
  lines: readonly string[],
  at?: number,
): Error {
  const { cause, step = 0, isOfTest = false } = problem ?? {};
  const failure = { fault: undefined, only: undefined, lines, steps, notes, isOfTest, cause };
  return explorationError({ ...failure, step: at ?? step });
}

/** @throws ExplorationError if a second run with the same seed has other steps */
function requireSameCourse(first: Outcome, second: Outcome): void {
  const length = Math.max(first.steps.length, second.steps.length);
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [courseOf(first, index), courseOf(second, index)];
    if (one === other) continue;
    const found = `two runs with the same seed differ at step ${index + 1}: ${one}; ${other}`;
    const remedy =
      "it uses Math.random, crypto.randomUUID, Date.now, a real timer or real I/O: take random, uid and clock of the context";
    throw wrongWithout(first, [`the program is not deterministic: ${found}`, remedy], index + 1);
  }
}

/** A step without its arguments, which may have ids. */
function courseOf({ steps }: Outcome, index: number): string {
  const step = steps[index];
  return step === undefined ? "no step" : `${step.text.replace(/\(.*/, "")} at ${step.at} ms`;
}

const FAULTS = [
  ...["crash-before", "crash-before-down", "crash-after", "crash-after-down", "lost-lease"],
  ...["response-lost", "call-failed", "conflict", "server-error", "too-many-requests", "expired"],
  "test-failed",
  ...["event-late", "events-lost", "foreign-condition", "hand-over", "scenario-first"],
  ...["upgrade", "upgrade-at-rest", "roll-back", "roll-back-at-rest"],
];

function requireKnownFaults(without: readonly string[], steps: Outcome["steps"]): void {
  const known = [...new Set([...FAULTS, ...steps.flatMap(({ faults }) => faults)])];
  for (const [index, type] of without.entries())
    if (!known.includes(type))
      throw new RangeError(
        `options.without[${index}] must be one of ${known.join(", ")}, got ${JSON.stringify(type)}`,
      );
}

/** What another time and another seed change in the last state. */
async function masksFor<World>(
  options: ResolvedExplore<World>,
  { state }: Outcome,
  version: "old" | "new",
): Promise<Masks> {
  if (options.expect !== "same") return { time: undefined, seed: undefined };
  const other = await runWithout({ ...options, seed: options.seed + 1 }, version);
  const later = await new Trial(options, { ...withoutFault(version), begin: OTHER_BEGIN }).run();
  const ofTime = later.problem === undefined ? later.state : undefined;
  const { lost, ...masks } = masksOf({ state, ofTime, ofSeed: other.state });
  if (lost.length === 0) return masks;
  const remedy = "leave it out by options.normalise or stateOf, or judge it by options.expect";
  throw wrongWithout(other, [`another seed leads to another state: ${lost.join(", ")}`, remedy]);
}

/** Says so if the program does nothing: every world passes then. A reconcile that rightly writes nothing is work. */
function idleness({ steps, hasReconciled }: Outcome): string[] {
  if (steps.some(({ reads, isDone = false }) => !reads && isDone)) return [];
  const refused = steps.find(({ reads }) => !reads);
  if (refused === undefined)
    return hasReconciled
      ? []
      : ["the program does nothing: it has no reconcile, no write and no call of a linked system"];
  return [
    `the program does nothing: every write was refused, ${refused.text} with ${refused.outcome}`,
  ];
}

/** The worlds with faults, compared with the reference. */
class Exploration<World> {
  readonly #options: ResolvedExplore<World>;
  readonly #reference: Reference;
  readonly #singles: readonly Fault[];
  /** That of the last release. */
  readonly #old: Reference | undefined;
  readonly #fired: Record<string, number> = {};

  /** The worlds with one fault so far, for second faults. */
  readonly #run: { readonly fault: Fault; readonly places: Places }[] = [];
  readonly #notRun: Record<string, number> = {};
  #worlds = 0;
  #simulated: number;

  constructor(options: ResolvedExplore<World>, reference: Reference, old: Reference | undefined) {
    this.#old = old;
    this.#options = options;
    this.#reference = reference;
    const upgrades =
      old === undefined
        ? []
        : upgradesOf({ old: old.steps, current: reference.steps }, options.without);
    this.#singles = [...upgrades, ...faultsOf(reference, options.without)];
    this.#simulated = reference.duration;
  }

  /** The run whose state a world must reach, with what may happen on the way. */
  #goalOf([first]: Plan): Reference {
    if (this.#old === undefined || first === undefined || !isOfUpgrade(first.type))
      return this.#reference;
    const [goal, other] = isRollBack(first.type)
      ? [this.#old, this.#reference]
      : [this.#reference, this.#old];
    const counts = new Map(goal.counts);
    for (const [label, count] of other.counts)
      counts.set(label, Math.max(count, counts.get(label) ?? 0));
    return { ...goal, counts };
  }

  /** @param hasTime - whether another world may begin */
  async run(hasTime: () => boolean): Promise<ExplorationReport> {
    const { only, logger } = this.#options;
    if (only === undefined) await this.#all(() => this.#worlds === 0 || hasTime());
    else await this.#only(only.split("+"), only);
    if (this.#worlds === 0)
      throw explorationError({
        fault: undefined,
        only: undefined,
        lines: ["no world was run: options.without leaves out every fault"],
        steps: [],
        step: 0,
      });
    const { steps, left, masks } = this.#reference;
    const notRun = this.#notRun;
    if (Object.keys(notRun).length > 0)
      logger.warn({ worlds: this.#worlds, notRun }, "exploration ended before all worlds were run");
    return {
      worlds: this.#worlds,
      planned: this.#singles.length,
      notRun,
      faults: this.#fired,
      steps: steps.map(({ text }) => text),
      left,
      masked: hiddenBy(masks),
      simulated: Math.round(this.#simulated),
    };
  }

  async #all(hasTime: () => boolean): Promise<void> {
    const { worlds, pairs, seed } = this.#options;
    const random = seededRandom(seed);
    const each = async (plans: readonly Plan[], run: (plan: Plan) => Promise<unknown>) => {
      const drawn = drawPlans(plans, Math.max(0, worlds - this.#worlds), random);
      const left = new Set(plans);
      for (const plan of drawn) {
        if (!hasTime()) break;
        await run(plan);
        left.delete(plan);
      }
      for (const plan of left) this.#skip(typeOf(plan));
    };
    await each(
      this.#singles.map((fault) => [fault]),
      ([fault]) => this.#single(fault as Fault),
    );
    await each(this.#upgradesWithFaults(), (plan) => this.#judged(plan));
    const count = pairs ?? Math.min(DEFAULT_PAIRS, Math.max(0, worlds - this.#worlds));
    this.#skip("pairs", await this.#pairs(count, { hasTime, random }));
  }

  #skip(type: string, count = 1): void {
    if (count > 0) this.#notRun[type] = (this.#notRun[type] ?? 0) + count;
  }

  async #single(fault: Fault): Promise<Places> {
    const { busySteps: steps, restStep } = await this.#judged([fault]);
    const { instants } = this.#reference;
    const places = { steps, instants, hasStart: false, restStep };
    if (this.#options.pairs !== 0 || fault.type.endsWith(AT_REST))
      this.#run.push({ fault, places });
    return places;
  }

  /** Every fault of the steps that follow a change of versions at rest. */
  #upgradesWithFaults(): Plan[] {
    return this.#run
      .filter(({ fault }) => fault.type.endsWith(AT_REST))
      .flatMap(({ fault, places }) =>
        faultsAfter(fault, places, this.#options.without).map((second) => [fault, second]),
      );
  }

  /**
   * Runs worlds with two faults: one that was run, and one of the steps that its world had after it. In three of
   * four, the second fault meets a step that is there because of the first, while there are others of the kind.
   *
   * @returns how many are left
   */
  async #pairs(
    count: number,
    { hasTime, random }: { readonly hasTime: () => boolean; readonly random: Random },
  ): Promise<number> {
    const index = (list: readonly unknown[]): number => Math.floor(random() * list.length);
    const { steps } = this.#reference;
    const firsts = this.#run.flatMap(({ fault, places }) => {
      const seconds = faultsAfter(fault, places, this.#options.without);
      return seconds.length === 0
        ? []
        : [{ fault, seconds, added: addedSteps(places.steps, steps) }];
    });
    const ofAdded = firsts.flatMap(({ fault, seconds, added }) =>
      seconds
        .filter(({ type, at }) => type !== HAND_OVER && added.has(at))
        .map((second): Plan => [fault, second]),
    );
    const draw = (): Plan => {
      const { fault, seconds } = firsts[index(firsts)] as (typeof firsts)[number];
      return [fault, seconds[index(seconds)] as Fault];
    };
    let left = firsts.length === 0 ? 0 : count;
    for (; left > 0 && hasTime(); left -= 1) {
      const [plan] = left % 4 === 0 ? [] : ofAdded.splice(index(ofAdded), 1);
      await this.#judged(plan ?? draw());
    }
    return left;
  }

  async #only([first = "", second]: readonly string[], only: string): Promise<void> {
    const fault = named(first, this.#singles);
    if (fault === undefined) throw unknownWorld(only, this.#singles);
    if (second === undefined) return void (await this.#single(fault));
    const { busySteps: steps, restStep } = await this.#trial([fault]);
    const places = { ...this.#reference, steps, restStep };
    const other = named(second, faultsAfter(fault, places, this.#options.without));
    if (other === undefined) throw unknownWorld(only, this.#singles);
    await this.#judged([fault, other]);
  }

  #trial(plan: Plan): Promise<Outcome> {
    const { instants } = this.#reference;
    const { masks, settled } = this.#goalOf(plan);
    const comparedText = (state: unknown): string => textOf(comparable(state, masks));
    const wanted = comparedText(parsed(settled));
    const isExpected = (state: unknown): boolean =>
      this.#options.expect !== "same" || comparedText(state) === wanted;
    const [first] = plan;
    const version = first?.type.startsWith("upgrade") ? "old" : "new";
    const trial = { plan, instants, isExpected, version, checks: "state" } as const;
    return new Trial(this.#options, trial).run();
  }

  /** @throws ExplorationError if the world ends in another way than the reference */
  async #judged(plan: Plan): Promise<Outcome> {
    const outcome = await this.#trial(plan);
    const { lines, cause } = this.#verdict(plan, outcome);
    if (lines.length > 0) throw this.#error(plan, outcome, lines, cause);
    this.#worlds += 1;
    this.#simulated += outcome.duration;
    for (const { type } of outcome.fired) this.#fired[type] = (this.#fired[type] ?? 0) + 1;
    return outcome;
  }

  /** The lines that say what is wrong with a world. */
  #verdict(
    plan: Plan,
    { state, counts, problem }: Outcome,
  ): {
    readonly lines: readonly string[];
    readonly cause?: unknown;
  } {
    const { expect } = this.#options;
    if (problem !== undefined)
      return { lines: [problem.text, ...problem.lines], cause: problem.cause };
    if (expect === "same") {
      const { state: expected, counts: known, masks } = this.#goalOf(plan);
      const [wanted, got] = [expected, state].map((one) => comparable(one, masks));
      return { lines: [...differenceOf(wanted, got), ...excess(known, counts, masks)] };
    }
    try {
      expect(state, this.#goalOf(plan).state);
    } catch (cause) {
      return { lines: [`options.expect: ${(cause as Error).message}`], cause };
    }
    return { lines: [] };
  }

  #error(plan: Plan, outcome: Outcome, lines: readonly string[], cause: unknown): ExplorationError {
    const { steps: known, instants } = this.#reference;
    const { steps, notes, lastChange, restStep } = outcome;
    const [first, second] = plan as readonly [Fault, Fault?]; // the run without one is judged elsewhere
    const fault = plan
      .map((one) =>
        describeFault(one, one.type === HAND_OVER ? known : steps, instants[one.at - 1]),
      )
      .join("; then ");
    const stepOf = ({ type, at }: Fault): number =>
      type === HAND_OVER ? stepAt(steps, instants[at - 1]) : at;
    const step = first.type.endsWith(AT_REST) ? (second?.at ?? restStep) : stepOf(first);
    const world = { steps, notes, step, lastChange };
    return explorationError({ fault, only: planName(plan), lines, cause, ...world });
  }
}

/** What has happened more often than in the reference. */
function excess(known: Outcome["counts"], counts: Outcome["counts"], masks: Masks): string[] {
  return [...counts].flatMap(([label, count]) => {
    const expected = known.get(label) ?? 0;
    if (count <= expected || beginsWithHidden(label, masks)) return [];
    return [`${label}: ${times(count)}, without the fault ${times(expected)}`];
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
