import { deferred, recaptureStack } from "@holdfast/kit";
import { DeadlockError } from "./deadlock-error.ts";
import { eventLoop } from "./event-loop.ts";
import { LivelockError } from "./livelock-error.ts";
import { LivelockGuard } from "./livelock-guard.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Options for an {@link Advance}, checked: its end, and the turns of the event loop it grants. */
export interface AdvanceLimits {
  /** The method that started it, for messages. */
  readonly verb: "run" | "step";
  /** The last instant at which a timer may fire. */
  readonly end: number;
  /** Whether to wait for a timer when none is due by then; otherwise the advance ends. */
  readonly whenIdle: "park" | "finish";
  readonly turns: number;
  readonly stallMs: number;
  /** As `stallMs`, while an `external()` is pending. */
  readonly externalMs: number;
  readonly maxTimers: number;
}

/** A reason not to move time. */
export interface Hold {
  readonly label: string;
  /** Whether it is the hold of an `external()`. */
  readonly isExternal: boolean;
}

/**
 * Milliseconds. If the stall timer is later than this, the process itself was blocked: Node runs timers
 * before the I/O that arrived meanwhile.
 */
const STOOD_STILL = 20;

/** Immediates queued at once when `turns` is 0: enough to hide the cost of a turn of the event loop. */
const BATCH = 64;

/**
 * One `run` or `step`: fires timer after timer and grants the event loop turns in between. It runs in
 * immediates: when one starts, promises and `nextTick` have nothing left to do. It parks while time is
 * held or nothing can fire; {@link Advance.wake} resumes it.
 */
export class Advance {
  readonly #time: VirtualTime;
  readonly #limits: AdvanceLimits;
  readonly #holds: ReadonlySet<Hold>;
  readonly #onEnd: () => void;
  readonly #start: number;
  readonly #guard: LivelockGuard;
  readonly #ended = deferred<void>();
  #state: "going" | "parked" | "ended" = "going";
  #queued = 0;
  #turnsLeft: number;
  /** Cancels the timers of a parked advance. */
  #unpark: () => void = () => {};

  /** @param onEnd - called once, before {@link Advance.ended} settles */
  constructor(
    time: VirtualTime,
    limits: AdvanceLimits,
    holds: ReadonlySet<Hold>,
    onEnd: () => void,
  ) {
    this.#time = time;
    this.#limits = limits;
    this.#holds = holds;
    this.#onEnd = onEnd;
    this.#start = time.monotonic();
    this.#guard = new LivelockGuard(time, limits.maxTimers);
    this.#turnsLeft = limits.turns;
    this.#queue();
  }

  /** Resolves at the end, or rejects with the error passed to {@link Advance.end}. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Resumes a parked advance. */
  wake(): void {
    if (this.#state !== "parked") return;
    this.#unpark();
    this.#state = "going";
    this.#turnsLeft = this.#limits.turns;
    this.#queue();
  }

  end(error?: { readonly thrown: unknown }): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#unpark();
    this.#onEnd();
    if (error === undefined) this.#ended.resolve();
    else this.#ended.reject(error.thrown);
  }

  /**
   * Returns the error. A `DeadlockError` or `LivelockError` of this advance gets the stack of the code that
   * waits: call this in an async function, after its `await`.
   */
  withCaller(error: unknown): unknown {
    if (error instanceof DeadlockError || error instanceof LivelockError)
      recaptureStack(error, this.withCaller);
    return error;
  }

  #queue(): void {
    if (this.#queued > 0) return;
    this.#queued = this.#limits.turns === 0 ? BATCH : 1;
    for (let i = 0; i < this.#queued; i++) eventLoop.soon(this.#onImmediate);
  }

  readonly #onImmediate = (): void => {
    this.#queued--;
    if (this.#state !== "going") return;
    this.#move();
    if (this.#state === "going") this.#queue();
  };

  #move(): void {
    if (this.#holds.size > 0) {
      this.#park();
      return;
    }
    const next = this.#time.next(this.#limits.end);
    if (next === "now") this.#fire();
    else if (this.#turnsLeft > 0) this.#turnsLeft--;
    else if (next === "later") this.#fire();
    else if (this.#limits.whenIdle === "park") this.#park();
    else this.#finish();
  }

  #finish(): void {
    this.#time.moveTo(this.#limits.end);
    this.end();
  }

  #fire(): void {
    this.#turnsLeft = this.#limits.turns;
    try {
      const fired = this.#time.fireNext(this.#limits.end);
      if (fired === undefined) this.#finish();
      else this.#guard.count(fired.label);
    } catch (thrown) {
      this.end({ thrown });
    }
  }

  #park(): void {
    this.#state = "parked";
    const stallMs = this.#limits[this.#limit];
    if (stallMs === 0) {
      this.#giveUp();
      return;
    }
    const cancelStall = stallMs < 2 ** 31 ? this.#awaitStall(stallMs) : undefined;
    const cancelPolling = this.#time.needsPolling ? eventLoop.watch(this.#poll) : undefined;
    this.#unpark = () => {
      cancelStall?.();
      cancelPolling?.();
    };
  }

  /** Waits a second time if the process was blocked during the first; the returned function cancels. */
  #awaitStall(stallMs: number): () => void {
    let cancel = eventLoop.later(stallMs, (late) => {
      if (late < STOOD_STILL) this.#giveUp();
      else cancel = eventLoop.later(stallMs, this.#giveUp);
    });
    return () => cancel();
  }

  readonly #poll = (): void => {
    if (this.#holds.size === 0 && this.#time.next(this.#limits.end) !== "none") this.wake();
  };

  /** The option that sets the time without progress before it gives up. */
  get #limit(): "stallMs" | "externalMs" {
    return [...this.#holds].some(({ isExternal }) => isExternal) ? "externalMs" : "stallMs";
  }

  readonly #giveUp = (): void => {
    const thrown = new DeadlockError({
      verb: this.#limits.verb,
      elapsed: this.#time.monotonic() - this.#start,
      fired: this.#guard.fired,
      stalled: this.#limits[this.#limit],
      limit: this.#limit,
      holds: [...this.#holds].map(({ label }) => label),
      pending: this.#time.pending(),
      resources: eventLoop.resources(),
    });
    this.end({ thrown });
  };
}
