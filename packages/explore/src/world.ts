import { onAbort, type Timer } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { deferred, messageOf } from "@holdfast/kit";
import type { ResolvedExplore } from "./explore-options.ts";
import { Fleet } from "./fleet.ts";
import { Journal } from "./journal.ts";
import { leftovers, unstill, type WorldEnd } from "./judge.ts";
import type { Schedule } from "./order.ts";
import { AT_REST, HAND_OVER, type Plan } from "./plan.ts";
import { Readiness } from "./readiness.ts";
import { Reconciles } from "./reconciles.ts";
import { playScenario, ScenarioError } from "./scenario.ts";
import { Settling } from "./settling.ts";
import { BEGIN, plainOf, textOf } from "./state-text.ts";
import { Steps } from "./steps.ts";
import { Systems, type Version } from "./systems.ts";

interface Rejections {
  on(event: "unhandledRejection", listener: (cause: unknown) => void): unknown;
  off(event: "unhandledRejection", listener: (cause: unknown) => void): unknown;
}

/** The process, where there is one. */
const PROCESS = (globalThis as { readonly process?: Rejections }).process;

/** How a world runs, and what is asked of it. */
export interface Course {
  readonly plan: Plan;
  /** Those of the reference, at which hand-overs happen. */
  readonly instants: readonly number[];
  /**
   * Whether a state before the stop is the expected one, undefined while nobody knows: until it is, a world goes on
   * while the program waits for something.
   */
  readonly isExpected: ((state: unknown) => boolean) | undefined;
  /** The version that begins. */
  readonly version: Version;
  /** `"all"` for the reference: that the program holds still, and leaves nothing behind. */
  readonly checks: "all" | "state";
  /** The time at which the world begins. */
  readonly begin?: number;
  /** When reconciles may begin: at once, if there is none. */
  readonly schedule?: Schedule;
}

/** The part of its end that a world knows before its stop. */
type Life = Pick<WorldEnd, "settled" | "left" | "played">;

/** One world: the program, its users, and the faults of a plan. Its parts see of it what they need. */
export class World<Outside> {
  readonly plan: Plan;
  readonly clock: FakeClock;
  readonly journal: Journal;
  readonly systems: Systems<Outside>;
  readonly reconciles: Reconciles;
  readonly readiness: Readiness = new Readiness();
  readonly fleet: Fleet;
  readonly steps: Steps<Outside>;
  readonly #settling: Settling;
  readonly #options: ResolvedExplore<Outside>;
  readonly #course: Course;

  constructor(options: ResolvedExplore<Outside>, course: Course) {
    this.#options = options;
    this.#course = course;
    this.plan = course.plan;
    this.clock = new FakeClock({ now: course.begin ?? BEGIN });
    this.journal = new Journal(this.clock);
    this.systems = new Systems(options, this.clock, course.version);
    this.reconciles = new Reconciles({
      now: () => this.journal.now,
      onOverlap: (text) => this.journal.fail({ text }),
      schedule: course.schedule,
    });
    this.fleet = new Fleet(options, this);
    this.steps = new Steps(options, this);
    this.#settling = new Settling(options, this);
  }

  /** Whether the state is the expected one. Undefined while nobody knows which that is. */
  isExpected(): boolean | undefined {
    return this.#course.isExpected?.(this.systems.state);
  }

  /** Runs it, once. Rejects with `signal.reason` on abort. */
  async run(): Promise<WorldEnd> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    const { promise: aborted, reject } = deferred<never>();
    using _abort = signal && onAbort(signal, reject);
    using _rejections = onRejection((cause) => this.#rejected(cause));
    let rest: Life = { settled: "", left: [], played: 0 };
    try {
      rest = await this.clock.run(() => Promise.race([this.#live(), aborted]));
    } catch (error) {
      if (signal?.aborted === true) {
        this.fleet.endAll();
        throw signal.reason;
      }
      const isOfTest = error instanceof ScenarioError;
      this.journal.fail({
        text: messageOf(error),
        cause: isOfTest ? error.cause : error,
        isOfTest,
      });
    }
    return {
      ...rest,
      state: this.systems.state,
      journal: this.journal,
      duration: this.journal.now,
      counts: this.systems.counts,
      hasStart: this.readiness.isKnown,
      attempts: this.reconciles.attempts,
      lateFrom: this.steps.lateFrom,
    };
  }

  /** Begin, scenario, settling, change of versions, stop. */
  async #live(): Promise<Life> {
    const { journal, systems, fleet } = this;
    systems.hasChanged(); // asked first here: what the world was made with is no change
    fleet.startAll();
    const handOvers = this.#armHandOvers();
    await playScenario(this.#options, this);
    const played = journal.now;
    let left = await this.#settling.untilSettled();
    if (await this.#changeAtRest()) left = await this.#settling.untilSettled();
    const settled = textOf(systems.state);
    for (const timer of handOvers) timer.stop();
    const { unsettled } = this.#settling;
    if (unsettled !== undefined) journal.fail({ text: unsettled });
    if (this.#course.checks === "all") await this.#checkStillness();
    await this.#stop();
    return { settled, left, played };
  }

  #armHandOvers(): Timer[] {
    return this.plan.flatMap((fault) => {
      const instant = this.#course.instants[fault.at - 1];
      if (fault.type !== HAND_OVER || instant === undefined) return [];
      const begin = (): void => {
        this.journal.fired.add(fault);
        void this.#handOver();
      };
      return [this.clock.afterFunc(instant, begin, { label: "hand-over" })];
    });
  }

  /** All replicas stop as at a deployment, and the next ones start when they have ended. */
  async #handOver(): Promise<void> {
    await this.fleet.stopAll();
    this.fleet.startAll();
  }

  /** Another version takes over when nothing is left to do, if the plan says so. */
  async #changeAtRest(): Promise<boolean> {
    const change = this.plan.find(({ type }) => type.endsWith(AT_REST));
    if (change === undefined) return false;
    this.journal.fired.add(change);
    this.journal.restStep = this.journal.steps.length;
    await this.fleet.stopAll();
    this.systems.changeVersion();
    this.fleet.startAll();
    return true;
  }

  /** A program that is started again on its last state changes nothing. */
  async #checkStillness(): Promise<void> {
    const { journal, systems } = this;
    const { lastChange } = journal;
    const before = plainOf(systems.state);
    await this.#handOver();
    await this.#settling.untilQuiet(journal.now);
    if (journal.lastChange === lastChange) return;
    journal.fail(unstill(before, systems.state, journal.steps[journal.lastChange - 1]));
  }

  async #stop(): Promise<void> {
    await this.fleet.stopAll();
    await this.clock.sleep(1); // rejections are reported in a turn of the event loop
    if (this.#course.checks !== "all") return;
    const labels = this.fleet.left().map(({ label = "without a label" }) => label);
    if (labels.length > 0) this.journal.fail(leftovers(labels));
  }

  #rejected(cause: unknown): void {
    if (this.fleet.isCrashing) return; // a replica that has crashed handles nothing more
    const text = "a promise of the program was rejected, and nobody handled it";
    this.journal.fail({ text, cause });
  }
}

function onRejection(listener: (cause: unknown) => void): Disposable {
  PROCESS?.on("unhandledRejection", listener);
  return { [Symbol.dispose]: () => void PROCESS?.off("unhandledRejection", listener) };
}
