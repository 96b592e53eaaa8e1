import { onAbort } from "../abort/on-abort.ts";
import {
  requireFinite,
  requireFunction,
  requireNotNegative,
  requireOptions,
  requireSignal,
  requireString,
  requireWhole,
} from "../internal/arguments.ts";
import { Advance, type AdvanceLimits, type Hold } from "./advance.ts";
import { LivelockGuard } from "./livelock-guard.ts";
import type { RunOptions, StepOptions } from "./test-clock.ts";
import type { VirtualTime } from "./virtual-time.ts";

interface CheckedOptions extends Pick<AdvanceLimits, "turns" | "stallMs" | "maxTimers"> {
  readonly signal: AbortSignal | undefined;
}

function checkOptions(options: RunOptions, defaultStallMs: number): CheckedOptions {
  requireOptions("options", options);
  const { turns = 1, stallMs = defaultStallMs, maxTimers = 1_000_000, signal } = options;
  requireFinite("options.turns", requireWhole("options.turns", turns, 0));
  requireNotNegative("options.stallMs", stallMs);
  requireWhole("options.maxTimers", maxTimers, 0);
  if (signal !== undefined) requireSignal("options.signal", signal);
  return { turns, stallMs, maxTimers, signal };
}

/** Moves the time of a test clock for one method at a time, and tracks the holds that stop it. */
export class TimeControl {
  readonly #time: VirtualTime;
  readonly #stallMs: number;
  readonly #holds = new Set<Hold>();
  #advance: Advance | undefined = undefined;
  /** The method that moves time now. */
  #verb: "run" | "step" | "stepSync" | undefined = undefined;

  /** @param stallMs - the default of {@link StepOptions.stallMs} */
  constructor(time: VirtualTime, stallMs: number) {
    this.#time = time;
    this.#stallMs = stallMs;
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

  async step(end: number, options: StepOptions): Promise<void> {
    const { turns, stallMs } = checkOptions(options, this.#stallMs);
    await this.#begin({
      verb: "step",
      end,
      whenIdle: "finish",
      turns,
      stallMs,
      maxTimers: Number.POSITIVE_INFINITY,
    }).ended;
  }

  async run<Clock, Value>(
    fn: (clock: Clock) => Value | PromiseLike<Value>,
    clock: Clock,
    options: RunOptions,
  ): Promise<Value> {
    requireFunction("fn", fn);
    const { signal, ...limits } = checkOptions(options, this.#stallMs);
    this.#requireIdle("run");
    if (signal?.aborted) throw signal.reason;
    const end = Number.POSITIVE_INFINITY;
    const advance = this.#begin({ verb: "run", end, whenIdle: "park", ...limits });
    const abort = signal && onAbort(signal, (thrown) => advance.end({ thrown }));
    const result = (async () => fn(clock))();
    // Ends the advance in the microtask in which the work settles, before time can move.
    const settled = result.finally(() => advance.end());
    try {
      await Promise.race([advance.ended, settled]);
      return await result;
    } finally {
      abort?.[Symbol.dispose]();
    }
  }

  hold(label: string): Disposable {
    requireString("label", label);
    const hold = { label };
    this.#holds.add(hold);
    this.wake();
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
