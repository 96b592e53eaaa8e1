import { type Clock, onAbort } from "@holdfast/clock";
import { deferred, Linker, uuidFrom } from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import type { ProgramContext, ResolvedExplore } from "./explore-options.ts";
import type { Journal } from "./journal.ts";
import type { Readiness } from "./readiness.ts";
import type { Reconciles } from "./reconciles.ts";
import { ReplicaClock } from "./replica-clock.ts";
import { shownValue } from "./state-text.ts";
import type { StepOptions } from "./step.ts";

/** Longest argument in the text of a linked call. */
const MAX_TEXT = 60;

/** The parts of a world that a replica uses. */
export interface ReplicaWorld {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly reconciles: Reconciles;
  readonly readiness: Readiness;
  /** Does its steps, or lets them fail. */
  readonly steps: {
    perform<Value>(
      replica: Replica,
      options: StepOptions<Value>,
      perform: () => Promise<Value>,
    ): Promise<Value>;
  };
}

/** The options that all replicas share. */
export type ReplicaOptions = Pick<ResolvedExplore<never>, "seed" | "linked" | "logger">;

/** One process of the program in a world. */
export class Replica {
  readonly number: number;
  readonly clock: ReplicaClock;
  readonly random: Random;
  readonly #options: ReplicaOptions;
  readonly #world: ReplicaWorld;
  readonly #stop = new AbortController();
  readonly #crash = new AbortController();
  #pause: Promise<void> | undefined;
  /** Settles when the program has ended. */
  ended: Promise<unknown> = Promise.resolve();

  constructor(number: number, options: ReplicaOptions, world: ReplicaWorld) {
    this.number = number;
    this.clock = new ReplicaClock(world.clock);
    this.random = seededRandom(options.seed + number);
    this.#options = options;
    this.#world = world;
  }

  /** Aborts when the program should stop. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts when the replica crashes, for the parts of a world that see its connections end. */
  get crashed(): AbortSignal {
    return this.#crash.signal;
  }

  /** Whether it neither stands still nor has crashed. */
  get isAwake(): boolean {
    return this.#pause === undefined && !this.crashed.aborted;
  }

  /** The program's context. */
  context<World>(world: World): ProgramContext<World> {
    const { clock, random, signal, crashed, number: replica } = this;
    const { journal, reconciles, readiness, steps } = this.#world;
    const linker = new Linker({
      known: this.#options.linked,
      isAwake: () => this.isAwake,
      step: ({ text }, perform) => this.#callStep(text, perform),
      show: (value) => shownValue(value, MAX_TEXT),
    });
    const link = <System extends object>(system: System, name: string): System =>
      linker.link(system, name);
    const step: ProgramContext<World>["step"] = (options, perform) =>
      steps.perform(this, options, perform);
    const awake = (): Promise<void> => this.awake();
    return {
      ...{ world, clock, random, signal, replica, crashed, awake, link, step },
      uid: () => uuidFrom(random),
      logger: journal.loggerOf(replica, this.#options.logger),
      note: (text) => journal.note(replica, text),
      starting: (part) => {
        if (!crashed.aborted) readiness.begin(part);
      },
      watch: (name, reconcile) => reconciles.watch(this, name, reconcile),
      endTerm: () => reconciles.forget(this),
    };
  }

  /** Ends everything that the replica does, for good and without a trace. */
  crash(): void {
    this.clock.crash();
    this.#world.reconciles.forget(this);
    this.#crash.abort();
  }

  /** Stands still, as a process that the kernel has stopped: its timers and its responses come when it goes on. */
  pause(duration: number): void {
    this.clock.pause(duration);
    this.#pause = this.#world.clock.sleep(duration, { label: "pause" }).finally(() => {
      this.#pause = undefined;
    });
  }

  /** Resolves at once, or when the replica goes on. Never after a crash. */
  async awake(): Promise<void> {
    if (this.#pause !== undefined) await this.#pause;
    if (this.crashed.aborted) await never();
  }

  /** Asks the program to stop, and resolves when it has, or when it has crashed meanwhile. */
  async stop(): Promise<void> {
    this.#world.reconciles.forget(this);
    this.#stop.abort();
    const { promise: crashed, resolve } = deferred<void>();
    using _listener = onAbort(this.crashed, () => resolve());
    await Promise.race([this.ended, crashed]);
  }

  #callStep(text: string, perform: () => Promise<unknown>): Promise<unknown> {
    const faults = { "response-lost": loseResponse, "call-failed": failCall };
    return this.#world.steps.perform(this, { text, faults }, perform);
  }
}

async function loseResponse(perform: () => Promise<unknown>): Promise<never> {
  await perform();
  throw new Error("response lost");
}

async function failCall(): Promise<never> {
  throw new Error("call failed");
}

/** Code of a crashed replica waits here. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
