import {
  callSafely,
  flag,
  func,
  type Kinds,
  methods,
  parsed,
  read,
  requireBoolean,
  requireNotNegative,
  requireOptions,
  requireSignal,
} from "@holdfast/kit";
import type { KeyShards } from "./key-shards.ts";
import type { Leadership } from "./leadership.ts";

export const RUN_OPTIONS: Kinds<RunOptions> = {
  ref: flag,
  leadership: parsed("leadership"),
  shards: methods("slotOf", "join"),
  stopWithin: func,
};

/** Options for one run of a controller, an elector, a manager or another `Runnable`. */
export interface RunOptions {
  /**
   * Whether the run keeps the process alive while it is idle. It does so on `realClock` only. Pending
   * timers and requests keep the process alive in any case.
   *
   * @defaultValue `true`
   */
  readonly ref?: boolean | undefined;

  /**
   * The term under which the run works: the leadership that `lead` of a `LeaderElector` receives. A controller asks its
   * `isHeld` before each reconcile. When that is false, or `lost` aborts, before, during or after the abort of `signal`,
   * it drops everything: no further key begins, and keys in flight abort at once with `lost.reason`. The grace is 0; keys
   * that ignore their signal still have `abortGrace`. A manager passes it on to its runnables; an elector ignores it.
   *
   * Under a leadership, a stop by `signal` finishes the keys in flight and leaves the queued ones to the next leader, which
   * reconciles every key anyway.
   *
   * Pass the object itself: a copy by `{ ...leadership }` has no `isHeld`, and is refused.
   *
   * @defaultValue the first argument of `run`, if that is a leadership, which excludes this option; otherwise none
   */
  readonly leadership?: Leadership | undefined;

  /**
   * The slots whose keys a controller works on: a `Shards`, which divides keys over processes. A manager passes it on to
   * its runnables; others ignore it. It excludes `leadership`.
   *
   * | Event | Effect in a controller |
   * | --- | --- |
   * | a slot comes | sources start anew, and the keys of the slot that they report are reconciled. Slots that come one after the other share starts, from 1 s to 30 s apart |
   * | a slot is given up | its keys in flight are finished within `grace`, then aborted; no key of it begins; then it is released |
   * | a slot is lost | its keys in flight abort at once |
   * | a key of a slot that is not held is added, or due | it is dropped: its holder reconciles it |
   *
   * @defaultValue none: the controller works on all keys
   */
  readonly shards?: KeyShards | undefined;

  /**
   * Returns the time that the stop may take, in milliseconds, from 0 to `Infinity`: called once `signal` has aborted. A
   * `Manager` passes one to each of its runnables, so that all of them together stop within its `stopTimeout`. A controller
   * that would take longer shortens its `grace`, and its `abortGrace` to a quarter of the time; a relay of the outbox shortens
   * its `grace`; an elector, and shards, release their leases within half of it; a manager takes it as its `stopTimeout`, if that is longer. An error of it,
   * or a result that is no such time, is reported, and the run takes its own times.
   *
   * @defaultValue none: the run takes the times of its own options
   */
  readonly stopWithin?: (() => number) | undefined;
}

/** The arguments of a run, with their defaults. */
export interface ResolvedRun {
  readonly signal: AbortSignal;
  readonly ref: boolean;
  readonly leadership: Leadership | undefined;
  readonly shards: KeyShards | undefined;
  /** Asks the caller of the run. An error of it goes to `onError` and is no limit: it must not keep the run from its stop. */
  readonly stopWithin: (onError: (error: unknown) => void) => number;
}

/** @throws TypeError if an argument is of the wrong type, RangeError for shards or a second leadership beside one */
export function resolveRun(from: AbortSignal | Leadership, options: RunOptions): ResolvedRun {
  const [own, signal] = isLeadership(from) ? [from, from.signal] : [undefined, from];
  requireSignal(own === undefined ? "signal" : "leadership.signal", signal);
  const given = read("options", options, "run", RUN_OPTIONS);
  const { ref = true, leadership = own, shards, stopWithin: ask } = given;
  if (own !== undefined && given.leadership !== undefined)
    throw new RangeError("options.leadership must be undefined in a run under a leadership");
  if (leadership !== undefined) {
    requireLeadership(leadership === own ? "leadership" : "options.leadership", leadership);
    if (shards !== undefined)
      throw new RangeError("options.shards must be undefined in a run under a leadership");
  }
  const stopWithin: ResolvedRun["stopWithin"] = (onError) => {
    let time = Number.POSITIVE_INFINITY;
    if (ask !== undefined)
      callSafely(() => {
        time = requireNotNegative("the time of options.stopWithin()", ask());
      }, onError);
    return time;
  };
  return { signal, ref, leadership, shards, stopWithin };
}

function isLeadership(from: unknown): from is Leadership {
  return typeof from === "object" && from !== null && "lost" in from;
}

function requireLeadership(name: string, leadership: Leadership): void {
  requireOptions(name, leadership);
  requireSignal(`${name}.lost`, leadership.lost);
  requireBoolean(`${name}.isHeld`, leadership.isHeld);
}
