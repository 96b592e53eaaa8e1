import { type Clock, onAbort } from "@holdfast/clock";
import { deferred } from "@holdfast/clock/internal";
import { type Random, seededRandom } from "@holdfast/wait";
import type { Logger } from "../logger.ts";
import type { ProgramContext } from "./explore-options.ts";
import type { Journal } from "./journal.ts";
import type { Reconciles } from "./reconciles.ts";
import { ReplicaClock } from "./replica-clock.ts";
import type { StepOptions } from "./step.ts";

/** The world of a replica, which does its steps, or lets them fail. */
export interface ReplicaWorld {
  perform<Value>(
    replica: Replica,
    options: StepOptions<Value>,
    perform: () => Promise<Value>,
  ): Promise<Value>;
  readonly reconciles: Reconciles;
  readonly journal: Journal;
  readonly logger: Logger;
  /** The part of the start that is not over. Undefined: the program is ready. */
  starting: string | undefined;
}

/** One process of the program in a world. */
export class Replica {
  readonly number: number;
  readonly clock: ReplicaClock;
  readonly random: Random;
  readonly #world: ReplicaWorld;
  readonly #worldClock: Clock;
  readonly #stop = new AbortController();
  readonly #crash = new AbortController();
  #pause: Promise<void> | undefined;
  /** Settles when the program has ended. */
  ended: Promise<unknown> = Promise.resolve();

  constructor(number: number, { clock, seed, world }: ReplicaOptions) {
    this.number = number;
    this.clock = new ReplicaClock(clock);
    this.random = seededRandom(seed + number);
    this.#world = world;
    this.#worldClock = clock;
  }

  /** Aborts when the program should stop. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts when the replica crashes, for the parts of a world that see its connections end. */
  get crashed(): AbortSignal {
    return this.#crash.signal;
  }

  /** The program's context. */
  context<World>(world: World): ProgramContext<World> {
    const { clock, random, signal, crashed, number: replica } = this;
    const link = <System extends object>(system: System, name: string): System =>
      this.#link(system, name);
    const step: ProgramContext<World>["step"] = (options, perform) =>
      this.#world.perform(this, options, perform);
    const awake = (): Promise<void> => this.awake();
    const { journal, reconciles } = this.#world;
    return {
      ...{ world, clock, random, signal, replica, crashed, awake, link, step },
      logger: journal.loggerOf(replica, this.#world.logger),
      note: (text) => journal.note(replica, text),
      starting: (part) => {
        if (!crashed.aborted) this.#world.starting = part;
      },
      watch: (name, reconcile) => reconciles.watch(this, name, reconcile),
      endTerm: () => reconciles.forget(this),
    };
  }

  #link<System extends object>(system: System, name: string): System {
    return new Proxy(system, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) =>
          this.#call(`${name}.${String(property)}`, args, () => value.apply(target, args));
      },
      apply: (target, _, args: unknown[]) =>
        this.#call(name, args, () => Reflect.apply(target as () => unknown, undefined, args)),
    });
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
    this.#pause = this.#worldClock.sleep(duration, { label: "pause" }).finally(() => {
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

  #call(name: string, args: readonly unknown[], call: () => unknown): Promise<unknown> {
    const text = `${name}(${args.map(textOf).join(", ")})`;
    const faults = { "response-lost": loseResponse, "call-failed": failCall };
    return this.#world.perform(this, { text, faults }, async () => await call());
  }
}

/** Options for {@link Replica}. */
export interface ReplicaOptions {
  readonly clock: Clock;
  readonly seed: number;
  readonly world: ReplicaWorld;
}

const MAX_TEXT = 60;

function textOf(value: unknown): string {
  if (value instanceof AbortSignal) return "signal";
  const text = typeof value === "function" ? "function" : JSON.stringify(value);
  return (text ?? "undefined").slice(0, MAX_TEXT);
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
