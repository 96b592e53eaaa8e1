import { onAbort } from "../abort/on-abort.ts";
import {
  requireFinite,
  requireFunction,
  requireNotNegative,
  requireOptions,
  requireSignal,
  requireWhole,
} from "../internal/arguments.ts";
import { DeadlockError } from "./deadlock-error.ts";
import { type Drivable, Drive, type DrivePlan } from "./drive.ts";
import { eventLoop } from "./event-loop.ts";
import { LivelockGuard } from "./livelock-guard.ts";
import type { DriveOptions, PendingTimer, RunOptions } from "./test-clock.ts";

/** What a {@link Driver} drives, and asks for when it has to report. */
export interface Driven extends Drivable {
  pending(): PendingTimer[];
}

function planOf(options: RunOptions, end: number, whenIdle: DrivePlan["whenIdle"]): DrivePlan {
  requireOptions("options", options);
  const { turns = 1, stallMs = 1_000, maxTimers = 1_000_000, signal } = options;
  requireFinite("options.turns", requireWhole("options.turns", turns, 0));
  requireNotNegative("options.stallMs", stallMs);
  requireWhole("options.maxTimers", maxTimers, 0);
  if (signal !== undefined) requireSignal("options.signal", signal);
  return { end, whenIdle, turns, stallMs, maxTimers };
}

/** Lets one drive at a time move a clock, and keeps the holds that stop it. */
export class Driver {
  readonly #subject: Driven;
  readonly #holds = new Set<{ readonly label: string }>();
  #drive: Drive | undefined = undefined;
  /** Who moves the clock now; undefined while nobody does. */
  #verb: string | undefined = undefined;

  constructor(subject: Driven) {
    this.#subject = subject;
  }

  /** To be called when a timer is armed: a parked drive may go on. */
  wake(): void {
    this.#drive?.wake();
  }

  requireIdle(verb: string): void {
    if (this.#verb === undefined) return;
    throw new Error(
      `${verb}() cannot move a clock that ${this.#verb}() is driving: inside it, wait with clock.sleep()`,
    );
  }

  /** A step without the event loop: only what callbacks do by themselves gets done. */
  stepSync(end: number): void {
    this.requireIdle("stepSync");
    this.#verb = "stepSync";
    const guard = new LivelockGuard(this.#subject, Number.POSITIVE_INFINITY);
    try {
      while (this.#subject.next(end) !== "none") {
        const fired = this.#subject.fireNext(end);
        if (fired === undefined) break;
        guard.count(fired.label);
      }
      this.#subject.moveTo(end);
    } finally {
      this.#verb = undefined;
    }
  }

  async run<Clock, Value>(
    fn: (clock: Clock) => Value | PromiseLike<Value>,
    clock: Clock,
    options: RunOptions,
  ): Promise<Value> {
    requireFunction("fn", fn);
    const plan = planOf(options, Number.POSITIVE_INFINITY, "park");
    this.requireIdle("run");
    options.signal?.throwIfAborted();
    const driven = this.#start("run", plan);
    const abort =
      options.signal && onAbort(options.signal, (thrown) => driven.drive.end({ thrown }));
    const result = (async () => fn(clock))();
    // Ends the drive in the very microtask in which the work settles, before time can move.
    const settled = result.finally(() => driven.drive.end());
    try {
      await Promise.race([driven.ended, settled]);
      return await result;
    } finally {
      abort?.[Symbol.dispose]();
    }
  }

  async step(end: number, options: DriveOptions): Promise<void> {
    requireOptions("options", options);
    const { turns, stallMs } = options;
    const plan = planOf({ turns, stallMs, maxTimers: Number.POSITIVE_INFINITY }, end, "finish");
    this.requireIdle("step");
    await this.#start("step", plan).ended;
  }

  hold(label: string): Disposable {
    const hold = { label };
    this.#holds.add(hold);
    return {
      [Symbol.dispose]: () => {
        if (this.#holds.delete(hold)) this.wake();
      },
    };
  }

  async external<Value>(work: PromiseLike<Value>, label: string): Promise<Value> {
    const hold = this.hold(label);
    try {
      return await work;
    } finally {
      hold[Symbol.dispose]();
    }
  }

  #start(verb: string, plan: DrivePlan): { readonly drive: Drive; readonly ended: Promise<void> } {
    const start = this.#subject.monotonic();
    let drive!: Drive;
    const ended = new Promise<void>((resolve, reject) => {
      drive = new Drive(this.#subject, plan, {
        held: () => this.#holds.size > 0,
        onStall: (fired) => this.#stuck(verb, start, fired, plan.stallMs),
        onEnd: (error) => {
          this.#drive = undefined;
          this.#verb = undefined;
          if (error === undefined) resolve();
          else reject(error.thrown);
        },
      });
    });
    this.#drive = drive;
    this.#verb = verb;
    return { drive, ended };
  }

  #stuck(verb: string, start: number, fired: number, stalled: number): DeadlockError {
    return new DeadlockError({
      verb,
      elapsed: this.#subject.monotonic() - start,
      fired,
      stalled,
      holds: [...this.#holds].map(({ label }) => label),
      pending: this.#subject.pending(),
      resources: eventLoop.resources(),
    });
  }
}
