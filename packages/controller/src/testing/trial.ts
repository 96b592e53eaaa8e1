import { messageOf } from "@holdfast/clock/internal";
import { FakeClock } from "@holdfast/clock/testing";
import { seededRandom } from "@holdfast/wait";
import type { ResolvedExplore } from "./explore-options.ts";
import type { Plan } from "./plan.ts";
import { never, Replica, type StepRunner } from "./replica.ts";
import type { Step, StepOptions } from "./step.ts";

interface Rejections {
  on(event: "unhandledRejection", listener: (cause: unknown) => void): unknown;
  off(event: "unhandledRejection", listener: (cause: unknown) => void): unknown;
}

/** The process, where there is one. */
const PROCESS = (globalThis as { readonly process?: Rejections }).process;

/** The end of a world. */
export interface Outcome {
  /** The last state. */
  readonly state: unknown;
  readonly steps: readonly Step[];
  /** Number of the last step that changed the state. */
  readonly lastChange: number;
  /** Milliseconds that the world lasted. */
  readonly duration: number;
  /** What went wrong by itself, beside the state. */
  readonly problem: Problem | undefined;
}

/** A failure that needs no comparison. */
export interface Problem {
  readonly text: string;
  readonly cause?: unknown;
  /** Number of the step after which it was seen. */
  readonly step?: number;
}

/** A world that does not become quiet within so many times the time that counts as quiet. */
const MAX_ROUNDS = 100;

/** Or within so many steps. */
const MAX_STEPS = 5_000;

/** Milliseconds that a replica stands still: longer than any lease. */
const PAUSE = 60_000;

/** Milliseconds that a stop may take. */
const STOP_LIMIT = 300_000;

/** One world: the program, its users, and the faults of a plan. */
export class Trial<World> implements StepRunner {
  readonly #options: ResolvedExplore<World>;
  readonly #plan: Plan;
  readonly #instants: readonly number[];
  readonly #clock = new FakeClock();
  readonly #startedAt = this.#clock.monotonic();
  readonly #steps: Step[] = [];
  readonly #world: World;
  readonly #problems: Problem[] = [];
  #replicas: Replica[] = [];
  #made = 0;
  #revision = "";
  #changedAt = 0;
  #lastChange = 0;

  /** @param instants - those of the reference, at which hand-overs happen */
  constructor(options: ResolvedExplore<World>, plan: Plan = [], instants: readonly number[] = []) {
    this.#options = options;
    this.#plan = plan;
    this.#instants = instants;
    const random = seededRandom(options.seed);
    this.#world = options.world({ clock: this.#clock, random });
  }

  /** @param checks - `"all"` for the reference: that the program holds still, and leaves nothing behind */
  async run(checks: "all" | "state"): Promise<Outcome> {
    const clock = this.#clock;
    const onRejection = (cause: unknown): void =>
      this.#fail("a promise of the program was rejected, and nobody handled it", cause);
    PROCESS?.on("unhandledRejection", onRejection);
    try {
      await clock.run(() => this.#live(checks));
    } catch (error) {
      this.#fail(messageOf(error), error);
    } finally {
      PROCESS?.off("unhandledRejection", onRejection);
    }
    return {
      state: this.#state,
      steps: this.#steps,
      lastChange: this.#lastChange,
      duration: this.#now,
      problem: this.#problems[0],
    };
  }

  async perform<Value>(
    replica: Replica,
    { text, crashes = ["before", "after"], faults = {} }: StepOptions<Value>,
    perform: () => Promise<Value>,
  ): Promise<Value> {
    await replica.awake();
    const lost = this.#options.replicas > 1 && crashes.includes("after") ? ["lost-lease"] : [];
    const types = [...crashes.map((when) => `crash-${when}`), ...lost, ...Object.keys(faults)];
    const number = this.#note(text, replica, types);
    if (number > MAX_STEPS) {
      this.#fail(this.#restless());
      this.#end(replica);
      return await never();
    }
    const fault = this.#plan.find(({ type, at }) => at === number && types.includes(type))?.type;
    if (fault === "crash-before") return await this.#crash(replica);
    const meet = fault === undefined ? undefined : faults[fault];
    return await this.#finish(
      number,
      replica,
      fault,
      meet === undefined ? perform() : meet(perform),
    );
  }

  #note(text: string, { number: replica }: Replica, faults: readonly string[]): number {
    const number = this.#steps.length + 1;
    this.#steps.push({ number, text, at: this.#now, replica, faults });
    return number;
  }

  async #finish<Value>(
    number: number,
    replica: Replica,
    fault: string | undefined,
    work: Promise<Value>,
  ): Promise<Value> {
    try {
      return await work;
    } finally {
      this.#look(number);
      if (fault === "crash-after") void this.#crash(replica);
      if (fault === "lost-lease") replica.pause(PAUSE);
      await replica.awake();
    }
  }

  async #live(checks: "all" | "state"): Promise<void> {
    const clock = this.#clock;
    this.#revision = this.#options.revisionOf(this.#world);
    this.#startAll();
    const handOvers = this.#plan.flatMap(({ type, at }) => {
      const instant = this.#instants[at - 1];
      if (type !== "hand-over" || instant === undefined) return [];
      return [clock.afterFunc(instant, () => void this.#handOver(), { label: "hand-over" })];
    });
    await this.#options.scenario({ world: this.#world, clock });
    await this.#untilQuiet();
    for (const timer of handOvers) timer.stop();
    if (checks === "all") await this.#checkStillness();
    await this.#stopAll();
    await clock.sleep(1); // rejections are reported in a turn of the event loop
    const left = clock.pending().map(({ label = "without a label" }) => label);
    if (checks === "all" && left.length > 0)
      this.#fail(`${left.length} timers are left after the stop: ${left.join(", ")}`);
  }

  get #now(): number {
    return this.#clock.monotonic() - this.#startedAt;
  }

  get #state(): unknown {
    return this.#options.stateOf(this.#world);
  }

  #fail(text: string, cause?: unknown): void {
    this.#problems.push({ text, cause, step: this.#lastChange });
  }

  #start(): Replica {
    const replica = new Replica(++this.#made, {
      clock: this.#clock,
      seed: this.#options.seed,
      runner: this,
    });
    this.#replicas.push(replica);
    const run = async (): Promise<void> => {
      await this.#options.run(replica.context(this.#world));
      if (!replica.signal.aborted) throw new Error("the program ended by itself");
    };
    replica.ended = run().catch((error: unknown) => {
      if (!replica.crashed.aborted) this.#fail(`the program failed: ${messageOf(error)}`, error);
    });
    return replica;
  }

  /** The replica is gone at once; another one starts in its place, but for one that is stopping. */
  #crash(replica: Replica): Promise<never> {
    if (!replica.crashed.aborted) {
      const isStopping = replica.signal.aborted;
      this.#end(replica);
      if (!isStopping) this.#start();
    }
    return never();
  }

  #end(replica: Replica): void {
    replica.crash();
    this.#replicas = this.#replicas.filter((one) => one !== replica);
  }

  /** All replicas stop as at a deployment, and the next ones start when they have ended. */
  async #handOver(): Promise<void> {
    await this.#stopAll();
    this.#startAll();
  }

  #startAll(): void {
    for (let count = 0; count < this.#options.replicas; count += 1) this.#start();
  }

  async #stopAll(): Promise<void> {
    const stopping = this.#replicas;
    this.#replicas = [];
    const limit = this.#clock.newTimer(STOP_LIMIT, { label: "stop" });
    const ended = Promise.all(stopping.map((replica) => replica.stop())).then(() => false);
    if (await Promise.race([ended, limit.fired]))
      this.#fail(`the program has not stopped within ${STOP_LIMIT / 1_000} s`);
    limit.stop();
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
      this.#fail(`the invariant does not hold: ${messageOf(error)}`, error);
    }
  }

  /** Resolves when nothing has changed for the time that counts as quiet. */
  async #untilQuiet(): Promise<void> {
    const { quiet } = this.#options;
    const begun = this.#now;
    this.#changedAt = begun;
    for (;;) {
      const left = this.#changedAt + quiet - this.#now;
      if (left <= 0) return;
      if (this.#now - begun > MAX_ROUNDS * quiet) throw new Error(this.#restless());
      await this.#clock.sleep(left, { label: "until quiet" });
    }
  }

  #restless(): string {
    const last = this.#steps.slice(-3).map(({ text }) => text);
    return `the program never becomes quiet: its last steps are ${last.join("; ")}`;
  }

  /** A program that is started again on its last state changes nothing. */
  async #checkStillness(): Promise<void> {
    const changes = this.#lastChange;
    await this.#handOver();
    await this.#untilQuiet();
    if (this.#lastChange === changes) return;
    const change = this.#steps[this.#lastChange - 1];
    this.#fail(`a program that is started again on its last state changes it: ${change?.text}`);
  }
}
