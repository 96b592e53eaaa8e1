import type { CallbackContext } from "@holdfast/kit";
import type { Timer, TimerOptions } from "../clock.ts";
import type { PendingTimer } from "./test-clock.ts";

/** A timer that has fired, for messages. */
export interface FiredTimer {
  readonly label: string | undefined;
}

/** Time that a test moves, with the timers armed on it. */
export interface VirtualTime {
  now(): number;
  /** Sets the wall clock alone. */
  setSystemTime(instant: number): void;
  monotonic(): number;
  /** A timer, armed. `context` is that of the callback; a callback that only settles a promise needs none. */
  arm(delay: number, fire: () => void, options: TimerOptions, context?: CallbackContext): Timer;
  /** The instant `duration` milliseconds from now, at the resolution of this time. */
  after(duration: number): number;
  /** The number of armed timers. */
  readonly size: number;
  /** The armed timers in firing order. */
  pending(): PendingTimer[];
  stopAll(): void;
  /** Called whenever a timer is armed; set by the clock. */
  onArm: () => void;
  /** Whether timers can be armed without a call of {@link VirtualTime.onArm}. */
  readonly needsPolling: boolean;
  /**
   * Whether a timer is due by `end`, and whether time has to move for it. Returns `"later"` if that is
   * unknown.
   */
  next(end: number): "none" | "now" | "later";
  /** Moves time to the earliest timer due by `end` and fires it; undefined if there was none after all. */
  fireNext(end: number): FiredTimer | undefined;
  /** Moves time to an instant at which, and before which, no timer is due. */
  moveTo(instant: number): void;
}
