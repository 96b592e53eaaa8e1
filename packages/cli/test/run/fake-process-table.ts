import type { Clock, Timer } from "@holdfast/clock";
import type { Child, Exit, Launch, ProcessTable } from "../../src/run/core/process-table.ts";

/** How one life of a fake process goes. Durations are in milliseconds. */
export interface Life {
  /** How long it runs if nobody ends it; forever by default. */
  readonly runs?: number;
  /** How it ends by itself; with code 1 by default. */
  readonly exit?: Exit;
  /** How long it takes to end after SIGTERM; 0 by default, `Infinity` ignores the signal. */
  readonly afterTerm?: number;
  /** How much memory it takes, in bytes; 0 by default. */
  readonly memory?: number;
  /** Why it cannot be started. */
  readonly unstartable?: string;
}

/** What a command does in its nth life, counted from 1. */
export type Program = (life: number) => Life;

const FIRST_PID = 100;

interface FakeChild extends Child {
  readonly name: string;
}

/** Processes that live on a clock. It throws if two of one name are alive at once. */
export class FakeProcessTable implements ProcessTable {
  readonly launches: Launch[] = [];
  /** Every signal that reached a living process, as "name SIGNAL". */
  readonly signals: string[] = [];
  readonly #clock: Clock;
  readonly #programs: Readonly<Record<string, Program>>;
  readonly #alive = new Map<number, FakeChild>();
  readonly #lives = new Map<string, number>();

  constructor(clock: Clock, programs: Readonly<Record<string, Program>>) {
    this.#clock = clock;
    this.#programs = programs;
  }

  start(launch: Launch): Child {
    const { name, command } = launch;
    if ([...this.#alive.values()].some((child) => child.name === name))
      throw new Error(`two ${name} at once`);
    this.launches.push(launch);
    const count = (this.#lives.get(name) ?? 0) + 1;
    this.#lives.set(name, count);
    const life = this.#programs[command]?.(count) ?? {};
    if (life.unstartable !== undefined) {
      const exit: Exit = { kind: "error", message: life.unstartable };
      const exited = Promise.resolve(exit);
      return { pid: undefined, exited, signal: () => undefined, memory: () => 0 };
    }
    return this.#live(name, life);
  }

  alive(): readonly number[] {
    return [...this.#alive.keys()];
  }

  /** The names of those that are alive. */
  names(): readonly string[] {
    return [...this.#alive.values()].map(({ name }) => name).sort();
  }

  killAll(): void {
    for (const child of [...this.#alive.values()]) child.signal("SIGKILL");
  }

  /** As `kill -9` in a shell would. */
  kill(name: string): void {
    for (const child of [...this.#alive.values()]) if (child.name === name) child.signal("SIGKILL");
  }

  #live(name: string, life: Life): Child {
    const { runs = Number.POSITIVE_INFINITY, exit = { kind: "code", code: 1 } } = life;
    const { afterTerm = 0 } = life;
    const pid = FIRST_PID + this.launches.length;
    const { promise: exited, resolve } = newExit();
    const timers: Timer[] = [];
    const end = (how: Exit): void => {
      this.#alive.delete(pid);
      for (const timer of timers) timer.stop();
      resolve(how);
    };
    const endLater = (delay: number, how: Exit): void => {
      if (delay < Number.POSITIVE_INFINITY)
        timers.push(this.#clock.afterFunc(delay, () => end(how), { label: `life of ${name}` }));
    };
    const signal = (which: NodeJS.Signals): void => {
      if (!this.#alive.has(pid)) return;
      this.signals.push(`${name} ${which}`);
      if (which === "SIGKILL") end({ kind: "signal", signal: which });
      else endLater(afterTerm, { kind: "signal", signal: which });
    };
    const { memory = 0 } = life;
    const child: FakeChild = { name, pid, exited, signal, memory: () => memory };
    this.#alive.set(pid, child);
    endLater(runs, exit);
    return child;
  }
}

function newExit(): { promise: Promise<Exit>; resolve: (exit: Exit) => void } {
  let resolve!: (exit: Exit) => void;
  const promise = new Promise<Exit>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
