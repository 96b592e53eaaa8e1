import { onAbort } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { deferred, messageOf } from "@holdfast/kit";
import { seededRandom } from "@holdfast/wait";
import { differenceOf } from "./difference.ts";
import type { ResolvedExplore } from "./explore-options.ts";
import { Fleet } from "./fleet.ts";
import { described, Journal } from "./journal.ts";
import type { Logger } from "./logger.ts";
import { AT_REST, type Fault, HAND_OVER, isOfUpgrade, type Plan, SCENARIO_FIRST } from "./plan.ts";
import { Reconciles } from "./reconciles.ts";
import { never, Replica, type ReplicaWorld } from "./replica.ts";
import { ReplicaClock } from "./replica-clock.ts";
import { BEGIN, plainOf, textOf } from "./state-text.ts";
import type { Note, Step, StepOptions } from "./step.ts";

interface Rejections {
  on(event: "unhandledRejection", listener: (cause: unknown) => void): unknown;
  off(event: "unhandledRejection", listener: (cause: unknown) => void): unknown;
}

/** The process, where there is one. */
const PROCESS = (globalThis as { readonly process?: Rejections }).process;

/** The end of a world. */
export interface Outcome {
  /** The last state, after the stop. */
  readonly state: unknown;
  /** The last state before the stop, as text. */
  readonly settled: string;
  readonly steps: readonly Step[];
  readonly notes: readonly Note[];
  /** The steps up to the last change, and a second longer: those that count. */
  readonly busySteps: readonly Step[];
  /** Number of the last step that changed the state. */
  readonly lastChange: number;
  /** Milliseconds that the world lasted. */
  readonly duration: number;
  /** What went wrong by itself, beside the state. */
  readonly problem: Problem | undefined;
  /** The faults of the plan that have happened. */
  readonly fired: readonly Fault[];
  /** Number of the last step before a change of versions at rest. */
  readonly restStep: number;
  /** Numbers of `countsOf`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Whether the program has said when it is ready. */
  readonly hasStart: boolean;
  /** Whether a reconcile has succeeded. */
  readonly hasReconciled: boolean;
  /** Timers beyond the longest that a world waits for. */
  readonly left: readonly string[];
}

/** A failure that needs no comparison. */
export interface Problem {
  readonly text: string;
  /** More lines about it. */
  readonly lines: readonly string[];
  readonly cause?: unknown;
  /** Whether the test is wrong, and not the program. */
  readonly isOfTest?: boolean;
  /** Number of the step after which it was seen. */
  readonly step?: number;
}

/** A world that does not become quiet within so many times the time that counts as quiet. */
const MAX_ROUNDS = 100;

/** Milliseconds beyond quiet that a world goes on while it is not as expected, and the program waits for something. */
const EXTENSION = 1_800_000;

/** Milliseconds that a replica stands still: longer than any lease. */
const PAUSE = 60_000;

/** Milliseconds until the next replica starts, after a crash with a downtime. */
const DOWN = 60_000;

/** How a world runs, and what is asked of it. */
export interface TrialOptions {
  readonly plan: Plan;
  /** Those of the reference, at which hand-overs happen. */
  readonly instants: readonly number[];
  /**
   * Whether a state before the stop is the expected one, undefined while nobody knows: until it is, a world goes on
   * while the program waits for something.
   */
  readonly isExpected: ((state: unknown) => boolean) | undefined;
  /** The version that begins. */
  readonly version: "old" | "new";
  /** `"all"` for the reference: that the program holds still, and leaves nothing behind. */
  readonly checks: "all" | "state";
  /** The time at which the world begins. */
  readonly begin?: number;
}

/** The program does not become ready. */
class StartError extends Error {}

/** The scenario of a test has failed. */
class ScenarioError extends Error {}

/** One world: the program, its users, and the faults of a plan. */
export class Trial<World> implements ReplicaWorld {
  readonly journal: Journal = new Journal(() => this.#now);
  readonly reconciles: Reconciles = new Reconciles((text) => this.#fail(text));
  readonly logger: Logger;
  readonly linked: ReplicaWorld["linked"];
  readonly #options: ResolvedExplore<World>;
  readonly #trial: TrialOptions;
  readonly #clock: FakeClock;
  readonly #startedAt: number;
  readonly #world: World;
  readonly #fleet: Fleet;
  readonly #problems: Problem[] = [];
  readonly #fired = new Set<Fault>();
  readonly #left = new Set<string>();
  #settled = "";
  #restStep = 0;
  #version: "old" | "new";
  #made = 0;
  #revision = "";
  #changedAt = 0;
  #lastChange = 0;
  #crashedAt: number | undefined;
  #hasStart = false;
  #starting: string | undefined;
  #onReady: (() => void) | undefined;

  constructor(options: ResolvedExplore<World>, trial: TrialOptions) {
    this.#options = options;
    this.#trial = trial;
    this.#clock = new FakeClock({ now: trial.begin ?? BEGIN });
    this.#startedAt = this.#clock.monotonic();
    this.logger = options.logger;
    this.linked = options.linked;
    this.#version = trial.version;
    const random = seededRandom(options.seed);
    this.#world = options.world({ clock: this.#clock, random });
    options.onVersion(this.#world, this.#version);
    this.#fleet = new Fleet({
      clock: this.#clock,
      replicas: options.replicas,
      make: () => this.#make(),
      run: async (replica) => {
        const { run, upgradeFrom = run } = options;
        await (this.#version === "new" ? run : upgradeFrom)(replica.context(this.#world));
      },
      note: (replica, text) => this.journal.note(replica, text),
      fail: (text, cause) => this.#fail(text, { cause }),
    });
  }

  async run(): Promise<Outcome> {
    const onRejection = (cause: unknown): void => {
      // A replica that has crashed handles nothing more.
      if (this.#crashedAt === this.#now) return;
      this.#fail("a promise of the program was rejected, and nobody handled it", { cause });
    };
    const { signal } = this.#options;
    signal?.throwIfAborted();
    PROCESS?.on("unhandledRejection", onRejection);
    const { promise: aborted, reject } = deferred<never>();
    using _listener = signal && onAbort(signal, reject);
    try {
      await this.#clock.run(() => Promise.race([this.#live(), aborted]));
    } catch (error) {
      if (signal?.aborted === true) {
        this.#fleet.endAll();
        throw signal.reason;
      }
      const cause = error instanceof ScenarioError ? error.cause : error;
      this.#fail(messageOf(error), { cause, isOfTest: error instanceof ScenarioError });
    } finally {
      PROCESS?.off("unhandledRejection", onRejection);
    }
    return {
      state: this.#state,
      settled: this.#settled,
      steps: this.journal.steps,
      notes: this.journal.notes,
      busySteps: this.#busySteps,
      lastChange: this.#lastChange,
      duration: this.#now,
      problem: this.#problems[0],
      fired: [...this.#fired],
      restStep: this.#restStep,
      counts: this.#options.countsOf(this.#world),
      hasStart: this.#hasStart,
      hasReconciled: this.reconciles.hasSucceeded,
      left: [...this.#left],
    };
  }

  async perform<Value>(
    replica: Replica,
    options: StepOptions<Value>,
    perform: () => Promise<Value>,
  ): Promise<Value> {
    await replica.awake();
    const { text, faults = {}, reads = false } = options;
    const types = this.#typesOf(options);
    const step = this.journal.begin({ text, replica: replica.number, faults: types, reads });
    if (this.journal.isRacing()) {
      this.#fail(this.#restless());
      this.#fleet.end(replica);
      return await never();
    }
    const fault = this.#faultAt(step);
    if (fault?.startsWith("crash-before")) return await this.#crash(replica, fault);
    const meet = fault === undefined ? undefined : faults[fault];
    const work = meet === undefined ? perform() : meet(perform);
    return await this.#finish(step, replica, fault, described(step, work, { ...options, fault }));
  }

  starting(part: string | undefined): void {
    this.#hasStart = true;
    this.#starting = part;
    if (part === undefined) this.#onReady?.();
  }

  /** Types of the faults that fit a step. */
  #typesOf<Value>({ crashes = ["before", "after"], faults = {} }: StepOptions<Value>): string[] {
    const lost = this.#options.replicas > 1 && crashes.includes("after") ? ["lost-lease"] : [];
    const ends = crashes.flatMap((when) => [`crash-${when}`, `crash-${when}-down`]);
    return [...ends, ...lost, ...Object.keys(faults)];
  }

  #faultAt({ number, faults }: Step): string | undefined {
    const fault = this.#trial.plan.find(({ type, at }) => at === number && faults.includes(type));
    if (fault !== undefined) this.#fired.add(fault);
    return fault?.type;
  }

  async #finish<Value>(
    { number }: Step,
    replica: Replica,
    fault: string | undefined,
    work: Promise<Value>,
  ): Promise<Value> {
    try {
      return await work;
    } finally {
      this.#look(number);
      if (fault?.startsWith("crash-after")) void this.#crash(replica, fault);
      if (fault === "lost-lease") {
        this.journal.note(replica.number, `stands still for ${PAUSE / 1_000} s`);
        replica.pause(PAUSE);
      }
      if (this.#changesAt(number)) {
        this.#changeVersion();
        this.#fleet.replaceAll();
      }
      await replica.awake();
    }
  }

  /** Whether another version takes over after a step. */
  #changesAt(number: number): boolean {
    const change = this.#trial.plan.find(
      ({ type, at }) => at === number && isOfUpgrade(type) && !type.endsWith(AT_REST),
    );
    if (change !== undefined) this.#fired.add(change);
    return change !== undefined;
  }

  #changeVersion(): void {
    this.#version = this.#version === "new" ? "old" : "new";
    this.#options.onVersion(this.#world, this.#version);
  }

  /** Another version takes over when nothing is left to do. */
  async #changeAtRest(): Promise<void> {
    const change = this.#trial.plan.find(({ type }) => type.endsWith(AT_REST));
    if (change === undefined) return;
    this.#fired.add(change);
    this.#restStep = this.journal.steps.length;
    await this.#fleet.stopAll();
    this.#changeVersion();
    this.#fleet.startAll();
    await this.#untilSettled();
  }

  #crash(replica: Replica, fault: string): Promise<never> {
    this.#crashedAt = this.#now;
    this.#fleet.crash(replica, fault.endsWith("-down") ? DOWN : 0);
    return never();
  }

  async #live(): Promise<void> {
    const clock = this.#clock;
    const { plan, instants, checks } = this.#trial;
    this.#revision = this.#options.revisionOf(this.#world);
    this.#fleet.startAll();
    const handOvers = plan.flatMap((fault) => {
      const instant = instants[fault.at - 1];
      if (fault.type !== HAND_OVER || instant === undefined) return [];
      const handOver = (): void => {
        this.#fired.add(fault);
        void this.#handOver();
      };
      return [clock.afterFunc(instant, handOver, { label: "hand-over" })];
    });
    await this.#playScenario();
    await this.#untilSettled();
    await this.#changeAtRest();
    this.#settled = textOf(this.#state);
    for (const timer of handOvers) timer.stop();
    const left = this.#unsettled;
    if (left !== undefined) this.#fail(left);
    if (checks === "all") await this.#checkStillness();
    await this.#fleet.stopAll();
    await clock.sleep(1); // rejections are reported in a turn of the event loop
    const timers = this.#fleet.left().map(({ label = "without a label" }) => label);
    if (checks === "all" && timers.length > 0)
      this.#fail(`${timers.length} timers are left after the stop: ${timers.join(", ")}`);
  }

  /** @throws ScenarioError if the scenario throws, or never ends */
  async #playScenario(): Promise<void> {
    const clock = new ReplicaClock(this.#clock);
    const { scenario, quiet } = this.#options;
    const played = scenario({ world: this.#world, clock, ready: () => this.#ready() }).then(
      () => false,
      (cause: unknown) => {
        // A program that is not ready is not the fault of the scenario.
        if (cause instanceof StartError) throw cause;
        const part =
          (cause as { name?: unknown })?.name === "AssertionError" ? "an assertion of " : "";
        throw new ScenarioError(`${part}the scenario failed: ${messageOf(cause)}`, { cause });
      },
    );
    let isOpen = true;
    while (isOpen) {
      const timer = this.#clock.newTimer(quiet, { label: "scenario" });
      isOpen = await Promise.race([played, timer.fired]);
      timer.stop();
      const hasLongTimer = clock
        .pending()
        .some(({ deadline }) => deadline > clock.monotonic() + quiet);
      const isIdle = this.#now - this.#changedAt > MAX_ROUNDS * quiet;
      if (isOpen && isIdle && !hasLongTimer)
        throw new ScenarioError(
          "the scenario never ends: it waits for something that does not come",
        );
    }
  }

  /** Resolves when the program is ready: at once, if it has not said that it starts, or if the plan does not wait. */
  async #ready(): Promise<void> {
    const early = this.#trial.plan.find(({ type }) => type === SCENARIO_FIRST);
    if (early !== undefined) this.#fired.add(early);
    await Promise.resolve(); // a program says that it starts in its first turn
    if (early !== undefined || this.#starting === undefined) return;
    const clock = this.#clock;
    const limit = clock.newTimer(MAX_ROUNDS * this.#options.quiet, { label: "ready" });
    const ready = new Promise<boolean>((resolve) => {
      this.#onReady = () => resolve(false);
    });
    const isLate = await Promise.race([ready, limit.fired]);
    limit.stop();
    if (isLate)
      throw new StartError(`the program never becomes ready: ${this.#starting} does not end`);
  }

  get #now(): number {
    return this.#clock.monotonic() - this.#startedAt;
  }

  get #state(): unknown {
    return this.#options.stateOf(this.#world);
  }

  #fail(text: string, { cause, lines = [], isOfTest = false }: Partial<Problem> = {}): void {
    this.#problems.push({ text, lines, cause, isOfTest, step: this.#lastChange });
  }

  #make(): Replica {
    this.#changedAt = this.#now;
    const { seed } = this.#options;
    return new Replica(++this.#made, { clock: this.#clock, seed, world: this });
  }

  /** All replicas stop as at a deployment, and the next ones start when they have ended. */
  async #handOver(): Promise<void> {
    await this.#fleet.stopAll();
    this.#fleet.startAll();
  }

  /** Notes whether a step has changed the state, and asks the invariant. */
  #look(number: number): void {
    const { revisionOf, invariant } = this.#options;
    const revision = revisionOf(this.#world);
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#changedAt = this.#now;
    this.#lastChange = number;
    try {
      invariant(this.#state);
    } catch (error) {
      this.#fail(`the invariant does not hold: ${messageOf(error)}`, { cause: error });
    }
  }

  /**
   * Resolves when the world is quiet, the timers that the program has armed until then have fired, and nothing is left
   * to do. Timers beyond the longest are not waited for, nor what has not settled by then.
   */
  async #untilSettled(): Promise<void> {
    const { longestTimer, quiet } = this.#options;
    const begun = this.#now;
    this.#changedAt = begun;
    for (;;) {
      await this.#untilQuiet(begun);
      const changed = this.#changedAt;
      let { length } = this.journal.steps;
      await this.#sleep(this.#lastTimerBy(changed + longestTimer) - this.#now, "timers");
      const end = this.#now + Math.min(longestTimer, EXTENSION);
      while (changed === this.#changedAt && !this.#isSettled(length) && this.#waitsBy(end)) {
        length = this.journal.steps.length;
        await this.#sleep(Math.min(quiet, end - this.#now), "until settled");
      }
      if (changed === this.#changedAt) return;
    }
  }

  /** Whether the program waits for a timer or in a reconcile, and may do so until then. */
  #waitsBy(end: number): boolean {
    if (this.#lastTimerBy(end) >= this.#now) return true;
    return this.#now < end && this.#unsettled !== undefined;
  }

  /** Sleeps, and a second longer, for what the timers at the end begin, also those that are due now. */
  async #sleep(duration: number, label: string): Promise<void> {
    if (duration >= 0) await this.#clock.sleep(duration + 1_000, { label });
  }

  /** Resolves when nothing has changed, and no replica has started, for the time that counts as quiet. */
  async #untilQuiet(begun: number): Promise<void> {
    const { quiet } = this.#options;
    for (;;) {
      const left = this.#changedAt + quiet - this.#now;
      if (left <= 0 && !(this.#fleet.isDown && this.#fleet.exit === undefined)) return;
      if (this.#now - begun > MAX_ROUNDS * quiet) throw new Error(this.#restless());
      await this.#clock.sleep(Math.max(left, 1_000), { label: "until quiet" });
    }
  }

  /** The instant of the last timer that is due by then. */
  #lastTimerBy(end: number): number {
    this.#left.clear();
    const { upkeep } = this.#options;
    const timers = this.#fleet.pending().filter(({ label = "" }) => !upkeep.includes(label));
    const instants = timers.flatMap(({ label = "without a label", deadline }) => {
      const instant = deadline - this.#startedAt;
      if (instant <= end) return [instant];
      if (instant < Number.POSITIVE_INFINITY) this.#left.add(label);
      return [];
    });
    return Math.max(0, ...instants);
  }

  get #busySteps(): readonly Step[] {
    const { steps } = this.journal;
    const end = (steps[this.#lastChange - 1]?.at ?? 0) + 1_000;
    return steps.filter(({ at }) => at <= end);
  }

  /** Whether nothing is left to do: while the last state is not known, there were no steps after so many. */
  #isSettled(steps: number): boolean {
    if (this.#unsettled !== undefined) return false;
    const { isExpected } = this.#trial;
    return isExpected === undefined ? this.journal.steps.length === steps : isExpected(this.#state);
  }

  /** What the program still has to do, in words. */
  get #unsettled(): string | undefined {
    const { exit } = this.#fleet;
    if (exit !== undefined) return exit;
    return this.#fleet.isDown ? "no replica runs" : this.reconciles.left;
  }

  #restless(): string {
    const last = this.journal.steps.slice(-3).map(({ text }) => text);
    return `the program never becomes quiet: its last steps are ${last.join("; ")}`;
  }

  /** A program that is started again on its last state changes nothing. */
  async #checkStillness(): Promise<void> {
    const changes = this.#lastChange;
    const before = plainOf(this.#state);
    await this.#handOver();
    await this.#untilQuiet(this.#now);
    if (this.#lastChange === changes) return;
    const change = this.journal.steps[this.#lastChange - 1];
    const text = `a program that is started again on its last state changes it: ${change?.text}`;
    this.#fail(text, { lines: differenceOf(before, this.#state) });
  }
}
