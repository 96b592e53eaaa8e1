import {
  abortSignal,
  type Kinds,
  kind,
  notNegative,
  read,
  requireFinite,
  requireFunction,
  requireString,
  requireWhole,
  whole,
} from "@holdfast/kit";
import { promiseOf } from "../abort/abortable.ts";
import { onAbort } from "../abort/on-abort.ts";
import { Advance, type AdvanceLimits, type Hold } from "./advance.ts";
import { LivelockGuard } from "./livelock-guard.ts";
import type { ClockRunOptions, ClockStepOptions } from "./test-clock.ts";
import type { VirtualTime } from "./virtual-time.ts";

export const STEP_OPTIONS: Kinds<ClockStepOptions> = {
  turns: kind<number>("turns", (path, value) => requireFinite(path, requireWhole(path, value, 0))),
  stallMs: notNegative,
  externalMs: notNegative,
};
export const RUN_OPTIONS: Kinds<ClockRunOptions> = {
  ...STEP_OPTIONS,
  maxTimers: whole(0),
  signal: abortSignal,
};

/** Real milliseconds without progress before a method gives up. */
export interface StallLimits {
  readonly stallMs: number;
  /** While an `external()` is pending. */
  readonly externalMs: number;
}

interface CheckedOptions extends StallLimits, Pick<AdvanceLimits, "turns" | "maxTimers"> {
  readonly signal: AbortSignal | undefined;
}

function withDefaults(options: ClockRunOptions, defaults: StallLimits): CheckedOptions {
  const { turns = 1, maxTimers = 1_000_000, signal } = options;
  const { stallMs = defaults.stallMs, externalMs = defaults.externalMs } = options;
  return { turns, stallMs, externalMs, maxTimers, signal };
}

/** Moves the time of a test clock for one method at a time, and tracks the holds that stop it. */
export class TimeControl {
  readonly #time: VirtualTime;
  readonly #limits: StallLimits;
  readonly #holds = new Set<Hold>();
  #advance: Advance | undefined = undefined;
  /** The method that moves time now. */
  #verb: "run" | "step" | "stepSync" | undefined = undefined;

  /** @param limits - the defaults of {@link ClockStepOptions} */
  constructor(time: VirtualTime, limits: StallLimits) {
    this.#time = time;
    this.#limits = limits;
  }

  /**
   * Resumes a parked advance; called when a timer is armed and when a hold begins or ends. The advance may
   * park again, and then measures its stall from here.
   */
  wake(): void {
    this.#advance?.wake();
  }

  /** A step without the event loop: callbacks run, promises do not. */
  stepSync(end: number): void {
    this.#requireIdle("stepSync");
    this.#verb = "stepSync";
    const guard = new LivelockGuard(this.#time, Number.POSITIVE_INFINITY);
    try {
      while (this.#time.next(end) !== "none") {
        const fired = this.#time.fireNext(end);
        if (fired === undefined) break;
        guard.count(fired.label);
      }
      this.#time.moveTo(end);
    } finally {
      this.#verb = undefined;
    }
  }

  async step(end: number, options: ClockStepOptions): Promise<void> {
    const given = read("options", options, "step", STEP_OPTIONS);
    const { turns, stallMs, externalMs } = withDefaults(given, this.#limits);
    const advance = this.#begin({
      verb: "step",
      end,
      whenIdle: "finish",
      turns,
      stallMs,
      externalMs,
      maxTimers: Number.POSITIVE_INFINITY,
    });
    try {
      await advance.ended;
    } catch (error) {
      throw advance.withCaller(error);
    }
  }

  async run<Clock, Value>(
    fn: (clock: Clock) => Value | PromiseLike<Value>,
    clock: Clock,
    options: ClockRunOptions,
  ): Promise<Value> {
    requireFunction("fn", fn);
    const given = read("options", options, "run", RUN_OPTIONS);
    const { signal, ...limits } = withDefaults(given, this.#limits);
    this.#requireIdle("run");
    if (signal?.aborted) throw signal.reason;
    const end = Number.POSITIVE_INFINITY;
    const advance = this.#begin({ verb: "run", end, whenIdle: "park", ...limits });
    const abort = signal && onAbort(signal, (thrown) => advance.end({ thrown }));
    const result = promiseOf(() => fn(clock));
    // Ends the advance in the microtask in which the work settles, before time can move.
    const settled = result.finally(() => advance.end());
    try {
      await Promise.race([advance.ended, settled]);
      return await result;
    } catch (error) {
      throw advance.withCaller(error);
    } finally {
      abort?.[Symbol.dispose]();
    }
  }

  hold(label: string, isExternal = false): Disposable {
    requireString("label", label);
    const hold: Hold = { label, isExternal };
    this.#holds.add(hold);
    this.wake();
    return {
      [Symbol.dispose]: () => {
        if (this.#holds.delete(hold)) this.wake();
      },
    };
  }

  async external<Value>(work: PromiseLike<Value>, label: string): Promise<Value> {
    const hold = this.hold(label, true);
    try {
      return await work;
    } finally {
      hold[Symbol.dispose]();
    }
  }

  #requireIdle(verb: string): void {
    if (this.#verb === undefined) return;
    throw new Error(
      `${verb}() cannot move a clock that ${this.#verb}() is driving: await it first, or wait inside it with clock.sleep()`,
    );
  }

  #begin(limits: AdvanceLimits): Advance {
    this.#requireIdle(limits.verb);
    this.#verb = limits.verb;
    this.#advance = new Advance(this.#time, limits, this.#holds, () => {
      this.#advance = undefined;
      this.#verb = undefined;
    });
    return this.#advance;
  }
}
