import { messageOf } from "@holdfast/kit";
import type { ResolvedExplore } from "./explore-options.ts";
import type { Fleet } from "./fleet.ts";
import { described, type Journal, restless } from "./journal.ts";
import { AT_REST, isOfUpgrade, type Plan } from "./plan.ts";
import type { Reconciles } from "./reconciles.ts";
import { never, type Replica } from "./replica.ts";
import type { Step, StepOptions } from "./step.ts";
import type { Systems } from "./systems.ts";

/** Milliseconds that a replica stands still: longer than any lease. */
const PAUSE = 60_000;

/** Milliseconds until the next replica starts, after a crash with a downtime. */
const DOWN = 60_000;

/** The parts of a world that a step and its fault change. */
export interface SteppedWorld<Outside> {
  readonly journal: Journal;
  readonly fleet: Fleet;
  readonly systems: Systems<Outside>;
  readonly plan: Plan;
  readonly reconciles: Reconciles;
}

/** A step that has begun. */
interface Begun {
  readonly step: Step;
  readonly replica: Replica;
  /** Type of the fault that meets it. */
  readonly fault: string | undefined;
  /** Changes of the state before it. */
  readonly changes: number;
  readonly since: number | undefined;
}

/** Does the steps of the replicas, and lets them meet the faults of the plan. */
export class Steps<Outside> {
  readonly #options: ResolvedExplore<Outside>;
  readonly #world: SteppedWorld<Outside>;

  /** Without a fault: the last change by others, the writes that have changed the state since, and the state then. */
  #asked = { at: 0, answers: [] as Step[] };
  #answered: string | undefined;
  readonly #before = new Map<Step, string>();

  constructor(options: ResolvedExplore<Outside>, world: SteppedWorld<Outside>) {
    this.#options = options;
    this.#world = world;
  }

  /**
   * Instant from which the program may be late without missing a change by others: that of the last one; 0 if it has
   * answered that with reports alone, as a program that refuses it and keeps the result of an earlier one; Infinity if it
   * has answered nothing.
   */
  get lateFrom(): number {
    const { at, answers } = this.#asked;
    if (this.#isByOthers() || answers.length === 0) return Number.POSITIVE_INFINITY;
    return answers.every(({ reports }) => reports) ? 0 : at;
  }

  async perform<Value>(
    replica: Replica,
    options: StepOptions<Value>,
    perform: () => Promise<Value>,
  ): Promise<Value> {
    const { journal, fleet } = this.#world;
    await replica.awake();
    const { text, faults = {}, reads = false, reports = false } = options;
    const types = this.#typesOf(options);
    const step = journal.begin({ text, replica: replica.number, faults: types, reads, reports });
    if (journal.isRacing()) {
      journal.fail(restless(journal));
      fleet.end(replica);
      return await never();
    }
    const fault = this.#plannedAt(step, (type) => types.includes(type));
    if (fault?.startsWith("crash-before")) return await this.#crash(replica, fault);
    const meet = fault === undefined ? undefined : faults[fault];
    this.#ask(step);
    const { changes } = this.#world.systems;
    const work = meet === undefined ? perform() : meet(perform);
    const done = described(step, work, { ...options, fault });
    return await this.#finish({ step, replica, fault, changes, since: options.since }, done);
  }

  async #finish<Value>(
    { step, replica, fault, changes, since }: Begun,
    work: Promise<Value>,
  ): Promise<Value> {
    const { journal, fleet, systems, reconciles } = this.#world;
    try {
      return await work;
    } finally {
      this.#look(step);
      // Another step may have noticed the change of this one.
      if (!step.reads && systems.changes > changes) reconciles.change(step.replica);
      if (since !== undefined) reconciles.tell(step.replica, journal.instantOf(since));
      if (fault?.startsWith("crash-after")) void this.#crash(replica, fault);
      if (fault === "lost-lease") {
        journal.note(replica.number, `stands still for ${PAUSE / 1_000} s`);
        replica.pause(PAUSE);
      }
      if (this.#plannedAt(step, isAfterStep) !== undefined) {
        systems.changeVersion();
        fleet.replaceAll();
      }
      await replica.awake();
    }
  }

  /** Notes the state before a write, without a fault: with one nobody asks for it, and each look costs. */
  #ask(step: Step): void {
    const { plan, systems } = this.#world;
    if (plan.length > 0 || step.reads) return;
    if (this.#isByOthers()) this.#asked = { at: step.at, answers: [] };
    this.#before.set(step, systems.revision);
  }

  #answer(step: Step): void {
    const before = this.#before.get(step);
    if (before === undefined) return;
    this.#before.delete(step);
    this.#answered = this.#world.systems.revision;
    if (this.#answered !== before) this.#asked.answers.push(step);
  }

  /** Whether somebody else has changed the state since the program did. */
  #isByOthers(): boolean {
    return this.#world.systems.revision !== this.#answered;
  }

  /** Types of the faults that fit a step. */
  #typesOf<Value>({ crashes = ["before", "after"], faults = {} }: StepOptions<Value>): string[] {
    const lost = this.#options.replicas > 1 && crashes.includes("after") ? ["lost-lease"] : [];
    const ends = crashes.flatMap((when) => [`crash-${when}`, `crash-${when}-down`]);
    return [...ends, ...lost, ...Object.keys(faults)];
  }

  /** Type of the fault that the plan has for a step. */
  #plannedAt({ number }: Step, fits: (type: string) => boolean): string | undefined {
    const { journal, plan } = this.#world;
    const fault = plan.find(({ type, at }) => at === number && fits(type));
    if (fault !== undefined) journal.fired.add(fault);
    return fault?.type;
  }

  /** Notes whether a step has changed the state, and asks the invariant. */
  #look(step: Step): void {
    const { journal, systems } = this.#world;
    this.#answer(step);
    if (!systems.hasChanged()) return;
    journal.change(step.number);
    try {
      this.#options.invariant(systems.state);
    } catch (cause) {
      journal.fail({ text: `the invariant does not hold: ${messageOf(cause)}`, cause });
    }
  }

  #crash(replica: Replica, fault: string): Promise<never> {
    this.#world.fleet.crash(replica, fault.endsWith("-down") ? DOWN : 0);
    return never();
  }
}

/** Whether another version takes over after a step. */
function isAfterStep(type: string): boolean {
  return isOfUpgrade(type) && !type.endsWith(AT_REST);
}
