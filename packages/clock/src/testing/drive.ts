import { eventLoop } from "./event-loop.ts";
import { type Guarded, LivelockGuard } from "./livelock-guard.ts";

/** A timer that has fired, for messages. */
export interface Fired {
  readonly label: string | undefined;
}

/** What a {@link Drive} moves. */
export interface Drivable extends Guarded {
  /**
   * True if timers can be armed without a call of {@link Drive.wake}: a parked drive then has to
   * look for itself.
   */
  readonly silent: boolean;
  /**
   * Whether a timer is due by `end`, and if so whether time has to move for it. Who cannot tell
   * says `"later"`.
   */
  next(end: number): "none" | "now" | "later";
  /**
   * Moves time to the earliest timer due by `end` and fires it. Undefined if there was none after
   * all.
   */
  fireNext(end: number): Fired | undefined;
  /** Moves time to an instant at which, and before which, nothing is due. */
  moveTo(instant: number): void;
}

/** How far a drive goes and what it grants on the way; every number checked. */
export interface DrivePlan {
  /** The last instant at which a timer may fire. */
  readonly end: number;
  /** What to do when no timer is due by then: wait for one, or finish. */
  readonly whenIdle: "park" | "finish";
  readonly turns: number;
  readonly stallMs: number;
  readonly maxTimers: number;
}

/** What a {@link Drive} asks and tells its owner. */
export interface DriveHooks {
  /** Whether time must not move now. */
  held(): boolean;
  /** Makes the error for a drive that is stuck. */
  onStall(fired: number): Error;
  /** Called once, when the drive has ended; with what was thrown, if anything was. */
  onEnd(error?: { readonly thrown: unknown }): void;
}

/**
 * If the wait for a stall ends so many milliseconds late, the process stood still itself: Node calls
 * timers before it looks at the I/O that has come meanwhile.
 */
const STOOD_STILL = 20;

/** Immediates queued at once in burst mode: enough to hide the cost of a turn of the event loop. */
const BATCH = 64;

/**
 * One `run` or `step`: fires timer after timer and grants the event loop its turns in between.
 *
 * It lives in immediates: when one starts, promises and `nextTick` have nothing left to do. It is
 * parked while time is held or nothing can fire; {@link Drive.wake} sets it going again.
 */
export class Drive {
  readonly #subject: Drivable;
  readonly #plan: DrivePlan;
  readonly #hooks: DriveHooks;
  #state: "going" | "parked" | "ended" = "going";
  #queued = 0;
  #turnsLeft: number;
  readonly #guard: LivelockGuard;
  /** Calls off what a parked drive waits for. */
  #unpark: () => void = () => {};

  constructor(subject: Drivable, plan: DrivePlan, hooks: DriveHooks) {
    this.#subject = subject;
    this.#plan = plan;
    this.#hooks = hooks;
    this.#guard = new LivelockGuard(subject, plan.maxTimers);
    this.#turnsLeft = plan.turns;
    this.#queue();
  }

  /** Something happened: look again. */
  wake(): void {
    if (this.#state !== "parked") return;
    this.#unpark();
    this.#state = "going";
    this.#turnsLeft = this.#plan.turns;
    this.#queue();
  }

  end(error?: { readonly thrown: unknown }): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#unpark();
    this.#hooks.onEnd(error);
  }

  #queue(): void {
    if (this.#queued > 0) return;
    this.#queued = this.#plan.turns === 0 ? BATCH : 1;
    for (let i = 0; i < this.#queued; i++) eventLoop.soon(this.#onImmediate);
  }

  readonly #onImmediate = (): void => {
    this.#queued--;
    if (this.#state !== "going") return;
    this.#advance();
    if (this.#state === "going") this.#queue();
  };

  #advance(): void {
    if (this.#hooks.held()) {
      this.#park();
      return;
    }
    const next = this.#subject.next(this.#plan.end);
    if (next === "now") this.#fire();
    else if (this.#turnsLeft > 0) this.#turnsLeft--;
    else if (next === "later") this.#fire();
    else if (this.#plan.whenIdle === "park") this.#park();
    else this.#finish();
  }

  #finish(): void {
    this.#subject.moveTo(this.#plan.end);
    this.end();
  }

  #fire(): void {
    this.#turnsLeft = this.#plan.turns;
    try {
      const fired = this.#subject.fireNext(this.#plan.end);
      if (fired === undefined) this.#finish();
      else this.#guard.count(fired.label);
    } catch (thrown) {
      this.end({ thrown });
    }
  }

  #park(): void {
    this.#state = "parked";
    const { stallMs } = this.#plan;
    if (stallMs === 0) {
      this.#giveUp();
      return;
    }
    const cancelStall = stallMs < 2 ** 31 ? this.#awaitStall(stallMs) : undefined;
    const cancelWatch = this.#subject.silent ? eventLoop.watch(this.#look) : undefined;
    this.#unpark = () => {
      cancelStall?.();
      cancelWatch?.();
    };
  }

  readonly #giveUp = (): void => this.end({ thrown: this.#hooks.onStall(this.#guard.fired) });

  /** Waits a second time if the process stood still in the first; the returned function ends it. */
  #awaitStall(stallMs: number): () => void {
    let cancel = eventLoop.later(stallMs, (late) => {
      if (late < STOOD_STILL) this.#giveUp();
      else cancel = eventLoop.later(stallMs, this.#giveUp);
    });
    return () => cancel();
  }

  readonly #look = (): void => {
    if (!this.#hooks.held() && this.#subject.next(this.#plan.end) !== "none") this.wake();
  };
}
